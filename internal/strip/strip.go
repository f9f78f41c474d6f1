// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package strip takes content out of telemetry that leaves the collector
// (requirement H1): it walks every place of a span or log that can hold a
// string and asks internal/content about it. docs/content.md says what leaves.
package strip

import (
	"fmt"

	"github.com/readtrail/readtrail/internal/content"
)

// Mode says what happens to what no table knows.
type Mode string

// The modes.
const (
	// Strict keeps only what is known to be harmless.
	Strict Mode = "strict"
	// Known touches only what is known to be content or a credential.
	Known Mode = "known"
)

// UnmarshalText refuses a mode that does not exist.
func (m *Mode) UnmarshalText(text []byte) error {
	switch mode := Mode(text); mode {
	case Strict, Known:
		*m = mode
		return nil
	default:
		return fmt.Errorf("mode must be %s or %s", Strict, Known)
	}
}

// Options say what stays.
type Options struct {
	// Mode is Strict if empty.
	Mode Mode
	// Places are keys that hold content besides those of internal/content's
	// tables, such as those that the recognition table reads.
	Places []string
	// Keep extends the harmless keys.
	Keep []content.Keep
	// KeepNames extends the harmless names of spans and events, case exact.
	KeepNames []string
}

// Stripper strips items. It is immutable and safe for concurrent use.
type Stripper struct {
	strict bool
	policy *content.Policy
	names  map[string]struct{}
	// observer is told what is decided; nil if nobody wants to know.
	observer Observer
}

// New returns a stripper, or an error that names the option at fault.
func New(o Options) (*Stripper, error) {
	if o.Mode != "" && o.Mode != Strict && o.Mode != Known {
		return nil, fmt.Errorf("mode: %q is neither %s nor %s", o.Mode, Strict, Known)
	}
	policy, err := content.NewPolicy(o.Places, o.Keep)
	if err != nil {
		return nil, err
	}
	s := &Stripper{strict: o.Mode != Known, policy: policy, names: make(map[string]struct{})}
	for i, name := range o.KeepNames {
		if name == "" {
			return nil, fmt.Errorf("keep_names[%d]: a name must not be empty", i)
		}
		s.names[name] = struct{}{}
	}
	return s, nil
}

// Profile names what was done to content: the mode and the version of the
// tables. It is the retention.redaction_profile of records (contract 9).
func (s *Stripper) Profile() string {
	mode := Known
	if s.strict {
		mode = Strict
	}
	return fmt.Sprintf("%s/%d", mode, content.TableVersion)
}

// Keeps reports whether an operator keeps a name of spans or events.
func (s *Stripper) Keeps(name string) bool {
	_, ok := s.names[name]
	return ok
}
