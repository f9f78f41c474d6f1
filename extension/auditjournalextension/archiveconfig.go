// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/segment"
)

// ArchiveConfig says where sealed segments go and how they are locked there.
type ArchiveConfig struct {
	// Bucket is the bucket and how its objects are locked.
	Bucket BucketConfig `mapstructure:",squash"`

	// Retain is how long objects are locked, by retention class: days such as
	// 3660d, or a duration. Required for every class of the scope.
	Retain map[string]Days `mapstructure:"retain"`

	// Interval is how often it is looked for segments that are sealed.
	Interval time.Duration `mapstructure:"interval"`

	// UploadTimeout bounds the upload of one segment.
	UploadTimeout time.Duration `mapstructure:"upload_timeout"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// BucketConfig is an S3 bucket with Object Lock. Credentials are not part of it:
// they come from the default chain of the AWS SDK.
type BucketConfig struct {
	// Name is the name of the bucket. Required.
	Name string `mapstructure:"bucket"`

	// Prefix is what all keys begin with.
	Prefix string `mapstructure:"prefix"`

	// Endpoint is the URL of an S3 server other than that of AWS.
	Endpoint string `mapstructure:"endpoint"`

	// Region is that of the bucket; without it, what the SDK finds.
	Region string `mapstructure:"region"`

	// PathStyle addresses the bucket in the path and not in the host name.
	PathStyle bool `mapstructure:"path_style"`

	// Mode is COMPLIANCE or GOVERNANCE.
	Mode LockMode `mapstructure:"mode"`

	// LegalHold also sets the legal hold of every object.
	LegalHold bool `mapstructure:"legal_hold"`

	// Timeout bounds every call that moves no segment.
	Timeout time.Duration `mapstructure:"timeout"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// LockMode is a mode of Object Lock, in any case of letters.
type LockMode archive.Mode

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *LockMode) UnmarshalText(text []byte) error {
	mode := archive.Mode(strings.ToUpper(string(text)))
	if mode != archive.Compliance && mode != archive.Governance {
		return fmt.Errorf("is neither %s nor %s", archive.Compliance, archive.Governance)
	}
	*m = LockMode(mode)
	return nil
}

// Days is a time that is written in days, such as 3660d, or as a duration.
type Days time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Days) UnmarshalText(text []byte) error {
	if days, found := strings.CutSuffix(string(text), "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return errors.New("is not a number of days, such as 3660d")
		}
		*d = Days(n) * Days(24*time.Hour)
		return nil
	}
	duration, err := time.ParseDuration(string(text))
	if err != nil {
		return errors.New("is neither a number of days, such as 3660d, nor a duration")
	}
	*d = Days(duration)
	return nil
}

// Validate checks what the SDK would only find out later.
func (c *ArchiveConfig) Validate() error {
	policy := c.policy()
	return inOneLine(c.Bucket.check(), policy.Check(), checkDuration("interval", c.Interval), checkDuration("upload_timeout", c.UploadTimeout))
}

// check says what is wrong with where the bucket is. It is no Validate, whose
// errors would name a section that the configuration has not.
func (c *BucketConfig) check() error {
	settings := c.settings()
	return errors.Join(settings.Check(), checkDuration("timeout", c.Timeout))
}

// S3SinkConfig is a bucket with Object Lock that keeps checkpoints.
type S3SinkConfig struct {
	// Bucket is the bucket and how its objects are locked.
	Bucket BucketConfig `mapstructure:",squash"`

	// Retain is how long checkpoints are locked: at least as long as the entries that
	// they cover. Required.
	Retain Days `mapstructure:"retain"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ confmap.Unmarshaler = (*S3SinkConfig)(nil)

// Unmarshal implements confmap.Unmarshaler: a sink begins with the defaults of a
// bucket.
func (c *S3SinkConfig) Unmarshal(conf *confmap.Conf) error {
	c.Bucket = newBucketConfig()
	return conf.Unmarshal(c)
}

// Validate checks what the SDK would only find out later.
func (c *S3SinkConfig) Validate() error {
	return inOneLine(c.Bucket.check(), archive.CheckKeep("retain", time.Duration(c.Retain)))
}

// maxArchivedSegment is what one PUT of S3 takes.
const maxArchivedSegment = 5<<30 - segment.MaxGroupBytes

// checkArchive checks what the archive needs of the rest: a time for the objects
// of every class.
func (c *Config) checkArchive() error {
	if !c.Archive.HasValue() {
		return nil
	}
	var errs []error
	classes := map[string]bool{}
	r := newRouter(&c.Scope, c.Actions)
	for name := range r.scopes() {
		classes[name.retention] = true
	}
	retain := c.Archive.Get().Retain
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if _, found := retain[class]; !found && len(retain) > 0 {
			errs = append(errs, fmt.Errorf("archive::retain has no entry for the retention class %s of scope: say how long its objects are locked", class))
		}
	}
	if c.Segment.MaxBytes > maxArchivedSegment {
		errs = append(errs, fmt.Errorf("segment::max_bytes is more than %d, which one upload to the archive takes", int64(maxArchivedSegment)))
	}
	return errors.Join(errs...)
}

func (c *BucketConfig) settings() archive.Settings {
	return archive.Settings{
		Bucket: c.Name, Prefix: c.Prefix, Endpoint: c.Endpoint, Region: c.Region, PathStyle: c.PathStyle, Timeout: c.Timeout,
	}
}

func (c *ArchiveConfig) policy() archive.Policy {
	p := archive.Policy{Mode: archive.Mode(c.Bucket.Mode), Keep: map[string]time.Duration{}, LegalHold: c.Bucket.LegalHold}
	for class, keep := range c.Retain {
		p.Keep[class] = time.Duration(keep)
	}
	return p
}

func newBucketConfig() BucketConfig {
	return BucketConfig{Mode: LockMode(archive.Compliance), Timeout: archive.DefaultTimeout}
}
