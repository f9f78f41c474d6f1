// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
)

// Config says where clients send records, who they are, and for whom they write.
type Config struct {
	// Journal is the id of the audit_journal extension.
	Journal component.ID `mapstructure:"journal"`

	// HTTP is the server: address, TLS, authentication, time and body limits.
	HTTP confighttp.ServerConfig `mapstructure:"http"`

	// Clients bind those who authenticated to the organizations that they write
	// for. Without any, every client writes to the base scope of the journal.
	Clients []ClientConfig `mapstructure:"clients"`

	// Audit is about /v1/audit, the OpenTelemetry audit-logging draft.
	Audit AuditConfig `mapstructure:"audit"`

	// FieldProvenance says how a decision is answered of which the journal does not
	// confirm what it cites: enforce or report. It is recorded either way.
	FieldProvenance string `mapstructure:"field_provenance"`

	// ProvenanceWait is how long a decision, or a context with claims, waits for
	// entries that it cites.
	ProvenanceWait time.Duration `mapstructure:"provenance_wait"`

	// Claims says what becomes of a context with a claim that is not supported: mark
	// or refuse.
	Claims string `mapstructure:"claims"`

	// Limits bound what requests take at the same time.
	Limits LimitsConfig `mapstructure:"limits"`

	// Assembly composes the audit event of an action out of its records.
	Assembly AssemblyConfig `mapstructure:"assembly"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// LimitsConfig bounds what requests take at the same time. What goes beyond is
// answered with 429 and Retry-After.
type LimitsConfig struct {
	// ConcurrentRequests is how many requests are decoded or wait for the journal.
	ConcurrentRequests int `mapstructure:"concurrent_requests"`

	// WaitingRequests is how many of them may wait for entries that they cite: at most
	// half of them, so that others are served meanwhile.
	WaitingRequests int `mapstructure:"waiting_requests"`

	// BytesInFlight is how many bytes of bodies are held, decompressed.
	BytesInFlight int64 `mapstructure:"bytes_in_flight"`

	// RecordsPerRequest is how many records one request may have.
	RecordsPerRequest int `mapstructure:"records_per_request"`

	// JournalTimeout is how long a request waits for the journal.
	JournalTimeout time.Duration `mapstructure:"journal_timeout"`

	// RetryAfter is what clients are told to wait for, rounded up to seconds.
	RetryAfter time.Duration `mapstructure:"retry_after"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// compressions are the content encodings whose decoders hold little memory before
// the first byte of a body is counted. That of snappy holds the whole body.
var compressions = []string{"", "gzip", "zstd", "zlib", "deflate"}

// Validate checks what no nested section can check alone.
func (c *Config) Validate() error {
	var errs []error
	if c.Journal == (component.ID{}) {
		errs = append(errs, errors.New("journal must name an audit_journal extension"))
	}
	errs = append(errs, c.checkHTTP(), oneLine(c.bindings().Check()...), c.checkProvenance())
	if body := c.HTTP.MaxRequestBodySize; body > c.Limits.BytesInFlight/2 { // a buffer that grows is there twice
		errs = append(errs, fmt.Errorf("http::max_request_body_size is %d, more than half of limits::bytes_in_flight of %d: such a body would never be accepted", body, c.Limits.BytesInFlight))
	}
	return oneLine(errs...)
}

// shortest is the shortest time that somebody means: a number without a unit is one of
// nanoseconds.
const shortest = time.Millisecond

// Values of field_provenance and claims.
const (
	provenanceEnforce = "enforce"
	provenanceReport  = "report"
	claimsMark        = "mark"
	claimsRefuse      = "refuse"
)

func (c *Config) checkProvenance() error {
	var errs []error
	if c.FieldProvenance != provenanceEnforce && c.FieldProvenance != provenanceReport {
		errs = append(errs, fmt.Errorf("field_provenance is %q: write enforce or report", c.FieldProvenance))
	}
	if c.Claims != claimsMark && c.Claims != claimsRefuse {
		errs = append(errs, fmt.Errorf("claims is %q: write mark or refuse", c.Claims))
	}
	switch {
	case c.ProvenanceWait > 0 && c.ProvenanceWait < shortest:
		errs = append(errs, fmt.Errorf("provenance_wait is %v, less than %v: write a number and its unit, such as 10s; 0s waits for nothing", c.ProvenanceWait, shortest))
	case c.ProvenanceWait < 0:
		errs = append(errs, errors.New("provenance_wait must not be negative; 0s waits for nothing"))
	case c.ProvenanceWait+c.Limits.JournalTimeout >= c.HTTP.WriteTimeout:
		errs = append(errs, fmt.Errorf("provenance_wait of %v and limits::journal_timeout of %v leave no time to answer within http::write_timeout of %v", c.ProvenanceWait, c.Limits.JournalTimeout, c.HTTP.WriteTimeout))
	}
	return oneLine(errs...)
}

func (c *Config) checkHTTP() error {
	var errs []error
	if c.HTTP.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New("http::endpoint must be set, such as localhost:4319"))
	}
	if c.HTTP.MaxRequestBodySize <= 0 {
		errs = append(errs, errors.New("http::max_request_body_size must be positive"))
	}
	for i, name := range c.HTTP.CompressionAlgorithms {
		if !slices.Contains(compressions, name) {
			errs = append(errs, fmt.Errorf("http::compression_algorithms::%d is %q: only gzip, zstd, zlib, deflate and the empty one for none can be read within limits", i, name))
		}
	}
	for _, timeout := range []struct {
		key   string
		value time.Duration
	}{{"read_timeout", c.HTTP.ReadTimeout}, {"read_header_timeout", c.HTTP.ReadHeaderTimeout}, {"write_timeout", c.HTTP.WriteTimeout}} {
		switch {
		case timeout.value <= 0:
			errs = append(errs, fmt.Errorf("http::%s must be positive: a slow client would hold what it has for ever", timeout.key))
		case timeout.value < shortest:
			errs = append(errs, fmt.Errorf("http::%s is %v, less than %v: write a number and its unit, such as 15s", timeout.key, timeout.value, shortest))
		}
	}
	return oneLine(errs...)
}

// Validate checks that requests can be served at all.
func (c *LimitsConfig) Validate() error {
	var errs []error
	if c.ConcurrentRequests <= 0 {
		errs = append(errs, errors.New("concurrent_requests must be positive"))
	}
	if c.WaitingRequests <= 0 {
		errs = append(errs, errors.New("waiting_requests must be positive"))
	} else if half := (c.ConcurrentRequests + 1) / 2; c.ConcurrentRequests > 0 && c.WaitingRequests > half {
		errs = append(errs, fmt.Errorf("waiting_requests is %d, more than half of concurrent_requests of %d: set it to at most %d, so that others are served while these wait", c.WaitingRequests, c.ConcurrentRequests, half))
	}
	if c.BytesInFlight <= 0 {
		errs = append(errs, errors.New("bytes_in_flight must be positive"))
	}
	if c.RecordsPerRequest <= 0 {
		errs = append(errs, errors.New("records_per_request must be positive"))
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{{"journal_timeout", c.JournalTimeout}, {"retry_after", c.RetryAfter}} {
		if d.value < time.Second {
			errs = append(errs, fmt.Errorf("%s is %v, less than 1s: write a number and its unit, such as 5s", d.key, d.value))
		}
	}
	return oneLine(errs...)
}

// oneLine joins errors in one line: the configuration's path is put in front of the
// text of a section once.
func oneLine(errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}
