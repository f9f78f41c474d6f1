// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/readtrail/readtrail/record"
)

// send carries out an attempt that the journal has permitted.
func (t *Transport) send(req *http.Request, c *call, a *attempt, to *resolved, body []byte) (*http.Response, error) {
	ctx := req.Context()
	out := req.Clone(ctx)
	out.URL, out.Host = to.url, ""
	out.Body, out.GetBody, out.ContentLength, out.TransferEncoding = nil, nil, 0, nil
	if body != nil {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if out.Header == nil {
		out.Header = http.Header{}
	}
	for name := range out.Header { // however they are spelled
		if own := http.CanonicalHeaderKey(name); own == idempotencyHeader || own == traceHeader {
			delete(out.Header, name)
		}
	}
	out.Header.Set(idempotencyHeader, record.IdempotencyToken(a.action.id))
	out.Header.Set(traceHeader, "00-"+c.TraceID+"-"+a.spanID+"-01")
	if ref := to.target.CredentialRef; ref != record.NoCredential {
		if t.Credentials == nil {
			return nil, t.Executor.giveUp(ctx, c, a, CodeCredentialUnavailable, errNoCredentials)
		}
		secret, err := t.Credentials.Secret(ctx, ref, to.target)
		if err != nil {
			return nil, t.Executor.giveUp(ctx, c, a, CodeCredentialUnavailable, errNoCredentials)
		}
		out.Header.Set(t.header(), secret)
	}
	watched, s := watch(ctx)
	resp, err := t.base().RoundTrip(out.WithContext(watched))
	if err != nil {
		s.again(nil)
		//lint:ignore SA1019 http.Client.Timeout uses it
		state, o := ended(s, endedBy(ctx, req.Cancel, err))
		return nil, t.Executor.end(ctx, c, a, state, o, err)
	}
	resp.Request = req // the one that holds no secret
	resp.Body = &releasing{resp.Body, s.again}
	o := record.Outcome{HTTPStatus: int64(resp.StatusCode), RemoteEffect: t.effect(resp)}
	if n, known := s.written(false); known {
		o.BytesSent = &n
	}
	if err := t.Executor.end(ctx, c, a, record.ActionCompleted, o, nil); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// releasing frees the attempt's context with the body.
type releasing struct {
	io.ReadCloser
	release context.CancelCauseFunc
}

func (r *releasing) Close() error {
	err := r.ReadCloser.Close()
	r.release(nil)
	return err
}

var (
	errNoCredentials = errors.New("boundary: the credential reference could not be resolved")
	errSentAgain     = errors.New("boundary: the base transport began to send a second time")
)

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	t.once.Do(func() { t.counted = Counting(nil) })
	return t.counted
}

func (t *Transport) effect(resp *http.Response) record.RemoteEffect {
	switch {
	case t.RemoteEffect != nil:
		return t.RemoteEffect(resp)
	case resp.StatusCode/100 == 2 && resp.StatusCode != http.StatusAccepted:
		return record.EffectConfirmed
	default:
		return record.EffectUnknown
	}
}

// ended says what an attempt without an answer came to; by is the code of what ended
// it, "" if nobody did. Only if it is known that no byte left did it fail.
func ended(s *sending, by string) (record.ActionState, record.Outcome) {
	n, known := s.written(true)
	o := record.Outcome{RemoteEffect: record.EffectUnknown, Error: first(by, CodeConnectionLost)}
	if known {
		o.BytesSent = &n
	}
	switch {
	case known && n == 0:
		o.Error, o.RemoteEffect = first(by, CodeConnectionFailed), record.EffectNone
		return record.ActionFailedBeforeSend, o
	case o.Error == CodeTimeout:
		return record.ActionTimeout, o
	default:
		return record.ActionUnknown, o
	}
}
