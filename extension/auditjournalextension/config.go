// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/readtrail/readtrail/internal/ledger"
)

// Config says where the journals are, who signs them and whose they are.
type Config struct {
	// Directory holds the journals, each in
	// <directory>/<organization_ref>/<retention_class>/<reads or actions>. It is
	// created if it does not exist. Required.
	Directory string `mapstructure:"directory"`

	// SigningKey is the key that signs every entry. Required.
	SigningKey SigningKeyConfig `mapstructure:"signing_key"`

	// OutgoingKeys are keys that SigningKey takes over from. They sign nothing but
	// that, in a journal whose last entry is by one of them.
	OutgoingKeys []SigningKeyConfig `mapstructure:"outgoing_keys"`

	// CollectorID names this collector in every entry. Required.
	CollectorID string `mapstructure:"collector_id"`

	// Scope says whose the records are and how long they are kept.
	Scope ScopeConfig `mapstructure:"scope"`

	// Actions has a second journal in each scope, for actions, approvals, decisions and
	// audit events, which the audit_event receiver writes to.
	Actions bool `mapstructure:"actions"`

	// Segment bounds the files of a journal.
	Segment SegmentConfig `mapstructure:"segment"`

	// DedupWindow is how long a record is remembered, across restarts, so that
	// its redelivery leaves no second entry.
	DedupWindow time.Duration `mapstructure:"dedup_window"`

	// Checkpoints say to places outside which entries a journal has. Without them
	// nobody can tell whether entries are missing at its end.
	Checkpoints configoptional.Optional[CheckpointsConfig] `mapstructure:"checkpoints"`

	// Archive keeps what is sealed in an S3 bucket with Object Lock. Without it
	// nothing is archived.
	Archive configoptional.Optional[ArchiveConfig] `mapstructure:"archive"`

	// Signatures says what one signature covers.
	Signatures Signatures `mapstructure:"signatures"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// SegmentConfig says when a journal goes on in a new file.
type SegmentConfig struct {
	// MaxBytes is the size of a segment, in bytes, at which the next one is begun.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxAge is the age of a segment at which the next one is begun.
	MaxAge time.Duration `mapstructure:"max_age"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Validate checks what no nested section can check alone.
func (c *Config) Validate() error {
	var errs []error
	if c.Directory == "" {
		errs = append(errs, errors.New("directory must be set: the journals are written below it"))
	}
	if c.CollectorID == "" {
		errs = append(errs, errors.New("collector_id must be set: it names this collector in every entry"))
	} else if err := checkName("collector_id", c.CollectorID, ledger.MaxTextBytes); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, checkDuration("dedup_window", c.DedupWindow), c.Scope.checkRoutes(), c.checkArchive(), c.checkSinks())
	return inOneLine(errs...)
}

// checkDuration refuses what nobody means: a number without a unit is one of
// nanoseconds.
func checkDuration(key string, d time.Duration) error {
	if d < time.Second {
		return fmt.Errorf("%s is %v, less than 1s: write a number and its unit, such as 24h", key, d)
	}
	return nil
}

// Validate checks that segments can be filled. One of few bytes holds a single
// commit group: a group is never divided.
func (c *SegmentConfig) Validate() error {
	var errs []error
	if c.MaxBytes <= 0 {
		errs = append(errs, errors.New("max_bytes must be positive"))
	}
	errs = append(errs, checkDuration("max_age", c.MaxAge))
	return inOneLine(errs...)
}
