// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Journal takes records and answers when they are durable. If it refuses one of a call,
// none of them is written. If it was unavailable or did not answer, some may stand in it,
// as after a crash, until the same call is made again: that completes it, and what is
// there already is not written twice.
type Journal interface {
	Append(ctx context.Context, records ...Record) ([]Receipt, error)
}

// Record is a body for the journal: *record.Action, *record.Approval and their kin.
type Record struct {
	Kind record.Kind
	Body any
	// EventID is the body's event_id, by which a receipt is known to be for it. ""
	// if the body has none.
	EventID string
}

// ActionRecord and ApprovalRecord are the records of such bodies.
func ActionRecord(a *record.Action) Record { return Record{record.KindAction, a, a.EventID} }

// ApprovalRecord is the record of an approval.
func ApprovalRecord(a *record.Approval) Record { return Record{record.KindApproval, a, a.EventID} }

// Defaults of a [Client].
const (
	DefaultMaxTries = 5
	DefaultMaxWait  = 5 * time.Second
)

// maxAnswerBytes bounds what is read of an answer.
const maxAnswerBytes = 4 << 20

// ErrUnavailable says that the journal did not take the records, as far as is known,
// and may take them later: a repeat of what it did take is no second entry.
var ErrUnavailable = errors.New("boundary: the journal did not take the records")

// Client is the [Journal] behind a receiver of type audit_event (docs/api.md).
type Client struct {
	// URL is the receiver's, such as https://collector:4319. Its path is put before
	// /v1/records.
	URL string
	// HTTP sends the requests. Its TLS configuration holds a client certificate where
	// the receiver wants one. nil is a client with a timeout of ten seconds. Redirects
	// are not followed, whatever it says.
	HTTP *http.Client
	// Authorize, if it is set, puts the executor's own credential on a request, for
	// each try anew.
	Authorize func(*http.Request) error
	// Organization and RetentionClass choose where the records go, among what the receiver
	// lets this executor choose. "" is what it has for it.
	Organization, RetentionClass string
	// Keys, if they are set, are those whose signature a receipt must have, by key id.
	Keys map[string]ed25519.PublicKey
	// MaxTries bounds how often one batch is sent: after 429, 503 and when nobody
	// answered. 0 is DefaultMaxTries.
	MaxTries int
	// MaxWait is the longest wait before another try. A Retry-After that is longer ends
	// the tries. 0 is DefaultMaxWait.
	MaxWait time.Duration
}

// Append implements [Journal]. It returns a *[Refusal] if the journal refused, and an
// error that is [ErrUnavailable] if it could not be reached in all tries or answered
// with something that is no receipt for what was sent.
func (c *Client) Append(ctx context.Context, records ...Record) ([]Receipt, error) {
	body, err := encode(records)
	if err != nil {
		return nil, err
	}
	tries, longest := c.MaxTries, c.MaxWait
	if tries <= 0 {
		tries = DefaultMaxTries
	}
	if longest <= 0 {
		longest = DefaultMaxWait
	}
	for try := 1; ; try++ {
		receipts, wait, err := c.post(ctx, body, records)
		var refused *Refusal
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) { // which another try does not change
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if err == nil || errors.As(err, &refused) || errors.Is(err, errReceipt) || errors.Is(err, errAuthorize) {
			return receipts, err
		}
		if wait == 0 {
			wait = backoff(try)
		}
		if try == tries || wait > longest || ctx.Err() != nil {
			return nil, fmt.Errorf("%w in %d tries: %w", ErrUnavailable, try, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w in %d tries: %w", ErrUnavailable, try, ctx.Err())
		case <-timer.C:
		}
	}
}

// backoff is the wait after a try whose answer names none: 50 ms and twice as long each
// time, less up to half of it so that clients do not come back together.
func backoff(try int) time.Duration {
	wait := 50 * time.Millisecond << min(try-1, 6)
	return wait - rand.N(wait/2)
}

var errAuthorize = errors.New("boundary: the executor's own credential for the journal is not to be had")

// post sends the batch once. The wait is what the answer asks for, 0 if nothing.
func (c *Client) post(ctx context.Context, body []byte, records []Record) ([]Receipt, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/v1/records", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Organization != "" {
		req.Header.Set("Readtrail-Organization", c.Organization)
	}
	if c.RetentionClass != "" {
		req.Header.Set("Readtrail-Retention-Class", c.RetentionClass)
	}
	if c.Authorize != nil {
		if c.Authorize(req) != nil {
			return nil, 0, errAuthorize // whose own text could hold it
		}
	}
	client := http.Client{Timeout: 10 * time.Second}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, 0, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		receipts, err := c.receipts(answer, records)
		return receipts, 0, err
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil, retryAfter(resp.Header.Get("Retry-After")), fmt.Errorf("status %d", resp.StatusCode)
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return nil, 0, fmt.Errorf("status %d", resp.StatusCode)
	default:
		return nil, 0, refusalOf(resp.StatusCode, answer)
	}
}

// retryAfter reads the seconds or the date of RFC 9110, 10.2.3; 0 if there is none.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), time.Millisecond)
	}
	return 0
}

// encode spells a batch: an array of objects with a schema version and a body each.
func encode(records []Record) ([]byte, error) {
	batch := make([]map[string]any, len(records))
	for i, r := range records {
		batch[i] = map[string]any{"schema_version": record.SchemaVersion, string(r.Kind): r.Body}
	}
	body, err := json.Marshal(batch, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("boundary: a record cannot be spelled as JSON: %w", err)
	}
	return body, nil
}
