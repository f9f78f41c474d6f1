// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Mode is a mode of Object Lock.
type Mode string

// The modes.
const (
	// Compliance: until the date nobody deletes the version, shortens the time or
	// changes the mode, whoever owns the account.
	Compliance Mode = "COMPLIANCE"
	// Governance: who has s3:BypassGovernanceRetention can.
	Governance Mode = "GOVERNANCE"
)

const (
	day = 24 * time.Hour
	// maxKeep is the longest time that S3 takes.
	maxKeep = 36500 * day
	// leastLock is how long an object is locked at least, so that one that is
	// archived at the end of its time is locked at all.
	leastLock = day
	// maxSkew is what S3 itself allows between the clocks.
	maxSkew = 15 * time.Minute
)

// Policy says how the objects of each retention class are locked.
type Policy struct {
	Mode Mode
	// Keep is how long, from the last entry of a segment on, by retention class.
	Keep map[string]time.Duration
	// LegalHold locks every object beyond its date, until somebody with the
	// permission lifts the hold.
	LegalHold bool
}

// Check says what is wrong with a policy.
func (p *Policy) Check() error {
	var errs []error
	if p.Mode != Compliance && p.Mode != Governance {
		errs = append(errs, fmt.Errorf("mode must be %s or %s", Compliance, Governance))
	}
	if len(p.Keep) == 0 {
		errs = append(errs, errors.New("retain must say for each retention class how long its objects are locked"))
	}
	for _, class := range slices.Sorted(maps.Keys(p.Keep)) {
		errs = append(errs, CheckKeep("retain::"+class, p.Keep[class]))
	}
	return errors.Join(errs...)
}

// CheckKeep says what is wrong with how long objects are locked. The name is that
// of the setting.
func CheckKeep(name string, keep time.Duration) error {
	if keep < day || keep > maxKeep {
		return fmt.Errorf("%s is %v, not one day to 100 years: write days, such as 3660d", name, keep)
	}
	return nil
}

// retention is how the objects of one class are locked.
type retention struct {
	mode Mode
	keep time.Duration
	hold bool
}

func (p *Policy) of(class string) (retention, error) {
	keep, found := p.Keep[class]
	if !found {
		return retention{}, fmt.Errorf("no retention is given for the class %s: add it to retain (--keep CLASS=DAYS)", class)
	}
	return retention{p.Mode, keep, p.LegalHold}, nil
}

// until is the date that an object gets which holds entries up to a time. S3 dates
// have seconds.
func (r retention) until(recorded, now time.Time) time.Time {
	if recorded.IsZero() || recorded.After(now) {
		recorded = now
	}
	until := recorded.Add(r.keep)
	if least := now.Add(leastLock); until.Before(least) {
		until = least
	}
	return until.UTC().Add(time.Second - time.Nanosecond).Truncate(time.Second)
}

// demanded is the date up to which an object must be locked that was stored at a
// time by the server's clock. It is what until gives but where the two clocks have
// a part in it: an object without a time of its own, and entries that a clock ahead
// of the server's has dated.
func (r retention) demanded(recorded, stored time.Time) time.Time {
	if recorded.IsZero() || recorded.After(stored) {
		recorded = stored.Add(-maxSkew)
	}
	return recorded.Add(r.keep)
}

// takes reports whether a mode is at least as strong as the one demanded.
func (r retention) takes(mode Mode) bool {
	return mode == r.mode || mode == Compliance
}

func (m Mode) object() types.ObjectLockMode { return types.ObjectLockMode(m) }

func (m Mode) retention() types.ObjectLockRetentionMode { return types.ObjectLockRetentionMode(m) }
