// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/assembly"
)

// AssemblyConfig says whether and how the receiver composes audit events (ADR 0027).
type AssemblyConfig struct {
	// Enabled composes an audit event when the records of an action have all that one
	// needs, and says audit_event.incomplete otherwise.
	Enabled bool `mapstructure:"enabled"`

	// Deadline is how long the rest is waited for after the newest outcome.
	Deadline time.Duration `mapstructure:"deadline"`

	// Lookback is how far back actions without an audit event are looked for after a
	// start. An outcome that is older than that is left alone.
	Lookback time.Duration `mapstructure:"lookback"`

	// MaxPending is how many actions are held at the same time. Of those beyond it the
	// journal is asked again when there is room.
	MaxPending int `mapstructure:"max_pending"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Validate checks that what is waited for can come.
func (c *AssemblyConfig) Validate() error {
	var errs []error
	if c.Deadline < time.Second {
		errs = append(errs, fmt.Errorf("deadline is %v, less than 1s: write a number and its unit, such as 10m", c.Deadline))
	}
	if c.Lookback < c.Deadline {
		errs = append(errs, fmt.Errorf("lookback is %v, less than deadline: after a restart some actions would never get an audit event", c.Lookback))
	}
	if c.MaxPending <= 0 {
		errs = append(errs, errors.New("max_pending must be positive"))
	}
	return oneLine(errs...)
}

// assemblerFor returns what composes audit events, nil if nothing does.
func (r *eventReceiver) assemblerFor(host component.Host) (*assembly.Assembler, error) {
	c := &r.config.Assembly
	if !c.Enabled {
		return nil, nil
	}
	journal, ok := host.GetExtensions()[r.config.Journal].(assembly.Journal)
	if !ok {
		return nil, fmt.Errorf("assembly: extension %s cannot be asked for the records of an action", r.config.Journal)
	}
	counted := instruments{r.telemetry}
	return assembly.New(assembly.Options{
		Journal: journal, Deadline: c.Deadline, Lookback: c.Lookback, MaxPending: c.MaxPending, Now: time.Now,
		Composed:   func() { counted.assembled("composed") },
		Incomplete: func() { counted.assembled("incomplete") },
		Failed: func(err error) {
			counted.assembled("failed")
			r.settings.Logger.Warn("Audit event of an action was not composed", zap.Error(err))
		},
	}), nil
}
