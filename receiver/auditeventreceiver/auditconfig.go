// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"errors"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/internal/auditlog"
)

// AuditConfig says what /v1/audit demands of producers, and whose proofs it believes.
type AuditConfig struct {
	// KeysFile is a JWK Set of producers' keys: OKP Ed25519, EC P-256, RSA, and oct for
	// HMAC-SHA256. A kid is what audit.integrity.certificate of a resource may name.
	KeysFile string `mapstructure:"keys_file"`

	// CertificatesFile is PEM: certificates of producers, each trusted by itself.
	CertificatesFile string `mapstructure:"certificates_file"`

	// RootsFile is PEM: certificates of those who issue producers' certificates.
	RootsFile string `mapstructure:"roots_file"`

	// Unsigned says what becomes of a record without a proof: accept or refuse.
	Unsigned string `mapstructure:"unsigned"`

	// Unverified says what becomes of a record whose proof cannot be checked, since its
	// key or algorithm is not known here: pending (202), accept (200) or refuse (400).
	Unverified string `mapstructure:"unverified"`

	// ClockTolerance is how far ahead of the collector's clock a producer's may be.
	ClockTolerance time.Duration `mapstructure:"clock_tolerance"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// maxClockTolerance keeps a wrong unit from switching the rule off.
const maxClockTolerance = time.Hour

// Validate checks the words and the duration; the files are read at start.
func (c *AuditConfig) Validate() error {
	var errs []error
	if c.Unsigned != string(auditlog.Accept) && c.Unsigned != string(auditlog.Reject) {
		errs = append(errs, fmt.Errorf("unsigned is %q: write accept or refuse", c.Unsigned))
	}
	switch auditlog.Deferral(c.Unverified) {
	case auditlog.Pending, auditlog.Accept, auditlog.Reject:
	default:
		errs = append(errs, fmt.Errorf("unverified is %q: write pending, accept or refuse", c.Unverified))
	}
	if t := c.ClockTolerance; t != 0 && (t < shortest || t > maxClockTolerance) {
		errs = append(errs, fmt.Errorf("clock_tolerance is %v: write a duration with its unit, from 1ms to 1h, or 0s", t))
	}
	if c.Unverified == string(auditlog.Reject) && c.Unsigned == string(auditlog.Accept) && c.KeysFile == "" && c.CertificatesFile == "" && c.RootsFile == "" {
		errs = append(errs, errors.New("unverified is refuse and no key is trusted: no record with a proof would be taken; set keys_file, certificates_file or roots_file"))
	}
	return oneLine(errs...)
}

// trust reads whose proofs are believed.
func (c *AuditConfig) trust() (*auditlog.Trust, error) {
	trust, err := auditlog.ReadTrust(auditlog.TrustFiles{Keys: c.KeysFile, Certificates: c.CertificatesFile, Roots: c.RootsFile})
	if err != nil {
		return nil, fmt.Errorf("audit::%w", err)
	}
	return trust, nil
}

// options are those of the service behind the endpoint.
func (c *AuditConfig) options(a *api) auditlog.Options {
	limits := auditlog.DefaultLimits
	limits.Records = a.config.Limits.RecordsPerRequest
	return auditlog.Options{
		Mapper:   auditlog.Mapper{Trust: a.trust, ClockTolerance: c.ClockTolerance},
		Unsigned: auditlog.Deferral(c.Unsigned), Unverified: auditlog.Deferral(c.Unverified),
		Limits: limits, RetryAfter: int((a.config.Limits.RetryAfter + time.Second - 1) / time.Second),
	}
}
