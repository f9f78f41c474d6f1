// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// CheckpointsConfig says when checkpoints are made and where they go.
type CheckpointsConfig struct {
	// Entries is the number of entries after which a checkpoint is due.
	Entries int64 `mapstructure:"entries"`

	// Interval is the time after which a checkpoint is due, in silence too.
	Interval time.Duration `mapstructure:"interval"`

	// Timeout bounds every call to a sink.
	Timeout time.Duration `mapstructure:"timeout"`

	// Sinks are the places that a checkpoint goes to, each under its name. At least
	// one, and none that the writer of the journal controls.
	Sinks SinksConfig `mapstructure:"sinks"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// SinksConfig holds the places outside the journal.
type SinksConfig struct {
	// Directory are directories on other disks or machines.
	Directory map[string]DirectorySinkConfig `mapstructure:"directory"`

	// Witness are witnesses that cosign what continues all that they cosigned before.
	Witness map[string]WitnessSinkConfig `mapstructure:"witness"`

	// Timestamp are RFC 3161 time stamp authorities.
	Timestamp map[string]TimestampSinkConfig `mapstructure:"timestamp"`

	// S3 are buckets with Object Lock. The archive, if there is one, is a sink
	// besides, called archive.
	S3 map[string]S3SinkConfig `mapstructure:"s3"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// DirectorySinkConfig is a directory that keeps checkpoints.
type DirectorySinkConfig struct {
	// Path is the directory. It must exist: what is not mounted is not made anew.
	// Required.
	Path string `mapstructure:"path"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// WitnessSinkConfig is a witness (c2sp.org/tlog-witness).
type WitnessSinkConfig struct {
	// ClientConfig reaches the witness: endpoint is its submission prefix. Required.
	ClientConfig confighttp.ClientConfig `mapstructure:",squash"`

	// Key is the verifier key of its cosignatures. Required.
	Key string `mapstructure:"key"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// TimestampSinkConfig is a time stamp authority.
type TimestampSinkConfig struct {
	// ClientConfig reaches the authority: endpoint is its URL. Required.
	ClientConfig confighttp.ClientConfig `mapstructure:",squash"`

	// RootsFile is a PEM file with the certificates that its certificate must lead
	// to: a root, and the intermediates that its tokens do not carry. Required.
	RootsFile string `mapstructure:"roots_file"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var (
	_ confmap.Unmarshaler = (*WitnessSinkConfig)(nil)
	_ confmap.Unmarshaler = (*TimestampSinkConfig)(nil)
)

// Unmarshal implements confmap.Unmarshaler: a sink begins with the defaults of an
// HTTP client.
func (c *WitnessSinkConfig) Unmarshal(conf *confmap.Conf) error {
	c.ClientConfig = confighttp.NewDefaultClientConfig()
	return conf.Unmarshal(c)
}

// Unmarshal implements confmap.Unmarshaler.
func (c *TimestampSinkConfig) Unmarshal(conf *confmap.Conf) error {
	c.ClientConfig = confighttp.NewDefaultClientConfig()
	return conf.Unmarshal(c)
}

// The kinds of sinks, as they stand in the configuration and before the name of
// one in metrics and entries.
const (
	kindDirectory = "directory"
	kindWitness   = "witness"
	kindTimestamp = "timestamp"
	kindS3        = "s3"
)

// sinkName is the name of a sink in metrics, logs and entries.
func sinkName(kind, name string) string { return kind + "/" + name }

// Validate checks that checkpoints come and go somewhere.
func (c *CheckpointsConfig) Validate() error {
	var errs []error
	if c.Entries <= 0 {
		errs = append(errs, errors.New("entries must be positive"))
	}
	errs = append(errs, checkDuration("interval", c.Interval), checkDuration("timeout", c.Timeout))
	if c.Timeout > c.Interval {
		errs = append(errs, fmt.Errorf("timeout is %v, longer than the interval of %v: a sink that hangs would delay the next checkpoint", c.Timeout, c.Interval))
	}
	return inOneLine(errs...)
}

// Validate checks that there is a sink that keeps checkpoints or knows them.
func (c *SinksConfig) Validate() error {
	if len(c.Directory)+len(c.Witness)+len(c.S3) == 0 {
		return errors.New("name a directory, a bucket or a witness: a checkpoint that nobody keeps proves nothing")
	}
	var errs []error
	for kind, of := range map[string][]string{
		kindDirectory: slices.Sorted(maps.Keys(c.Directory)), kindWitness: slices.Sorted(maps.Keys(c.Witness)), kindTimestamp: slices.Sorted(maps.Keys(c.Timestamp)),
		kindS3: slices.Sorted(maps.Keys(c.S3)),
	} {
		for _, name := range of {
			errs = append(errs, checkName(kind+"::"+name, name, durable.MaxName))
		}
	}
	return inOneLine(errs...)
}

// Validate checks that there is a path; whether it is there shows at start.
func (c *DirectorySinkConfig) Validate() error {
	if c.Path == "" {
		return errors.New("path must be set: a directory that the writer of the journal can add to but not change, on another disk or machine")
	}
	return nil
}

// checkSinks refuses directories of checkpoints inside that of the journals: who can
// change a journal there can change what it is compared with (contract 5).
func (c *Config) checkSinks() error {
	if !c.Checkpoints.HasValue() || c.Directory == "" {
		return nil
	}
	var errs []error
	sinks := c.Checkpoints.Get().Sinks.Directory
	for _, name := range slices.Sorted(maps.Keys(sinks)) {
		path := sinks[name].Path
		if path == "" {
			continue
		}
		below, err := filepath.Rel(resolved(c.Directory), resolved(path))
		if err == nil && filepath.IsLocal(below) {
			errs = append(errs, fmt.Errorf("checkpoints::sinks::%s::%s::path %s is inside directory %s: whoever can change the journals could change it too; "+
				"choose a directory on another disk or machine", kindDirectory, name, path, c.Directory))
		}
	}
	return errors.Join(errs...)
}

// resolved returns a path without symbolic links as far as it exists.
func resolved(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	rest := ""
	for at := whole; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return whole
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Validate checks the key.
func (c *WitnessSinkConfig) Validate() error {
	var errs []error
	if c.ClientConfig.Endpoint == "" {
		errs = append(errs, errors.New("endpoint must be set to the submission prefix of the witness"))
	}
	if _, err := journal.ParseWitness(c.Key); err != nil {
		errs = append(errs, fmt.Errorf("key is %w", err))
	}
	return inOneLine(errs...)
}

// Validate checks that the answers can be verified.
func (c *TimestampSinkConfig) Validate() error {
	var errs []error
	if c.ClientConfig.Endpoint == "" {
		errs = append(errs, errors.New("endpoint must be set to the URL of the time stamp authority"))
	}
	if c.RootsFile == "" {
		errs = append(errs, errors.New("roots_file must be set: a token that nobody can verify proves nothing"))
	}
	return inOneLine(errs...)
}
