// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// body reads the body of a request, which RoundTrip has to close.
func (t *Transport) body(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	limit := t.MaxBodyBytes
	if limit <= 0 {
		limit = DefaultMaxBodyBytes
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	if err != nil {
		return nil, &Error{Code: CodeBodyUnreadable, cause: err}
	}
	if int64(len(body)) > limit {
		return nil, &Error{Code: CodeBodyTooLarge, cause: errors.New("boundary: the body exceeds Transport.MaxBodyBytes")}
	}
	return body, nil
}

// clean refuses a request that brings a secret itself, or asks for another host than
// its URL names.
func clean(req *http.Request, credentialHeader string) error {
	secret := []string{"Authorization", "Proxy-Authorization", "Cookie", http.CanonicalHeaderKey(credentialHeader)}
	for name := range req.Header {
		if slices.Contains(secret, http.CanonicalHeaderKey(name)) {
			return &Error{Code: CodeInlineCredential, cause: errors.New("boundary: the request has a header that only a credential reference may fill")}
		}
	}
	if req.URL == nil || req.URL.User != nil {
		return &Error{Code: CodeInlineCredential, cause: errors.New("boundary: the request's URL is missing or names a user")}
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return &Error{Code: CodeHostOverride, cause: errors.New("boundary: Request.Host is not the host of Request.URL")}
	}
	return nil
}

func (t *Transport) header() string {
	if t.CredentialHeader == "" {
		return "Authorization"
	}
	return t.CredentialHeader
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func method(req *http.Request) string { return first(req.Method, http.MethodGet) }

func portOf(u *url.URL) (int64, error) {
	switch text := u.Port(); {
	case text != "":
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return 0, errors.New("boundary: the URL's port is none")
		}
		return int64(port), nil
	case u.Scheme == "https":
		return 443, nil
	case u.Scheme == "http":
		return 80, nil
	default:
		return 0, errors.New("boundary: the URL's scheme is neither http nor https")
	}
}

// The headers that are ours.
const (
	idempotencyHeader = "Idempotency-Key"
	traceHeader       = "Traceparent"
)

// headerNames are those of all headers that the executor sets, sorted.
func (t *Transport) headerNames(req *http.Request, to *record.ActionTarget) []string {
	names := []string{idempotencyHeader, traceHeader}
	if to.CredentialRef != record.NoCredential {
		names = append(names, http.CanonicalHeaderKey(t.header()))
	}
	for name := range req.Header {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// resolved is where a request goes: as it is sent, and as it is recorded.
type resolved struct {
	url    *url.URL
	target record.ActionTarget
}

func (t *Transport) resolve(req *http.Request, c *call, body []byte) (*resolved, error) {
	r := Resolved{URL: req.URL}
	if t.Resolver != nil {
		var err error
		if r, err = t.Resolver.Resolve(req.Context(), req, c.Call); err != nil {
			return nil, err
		}
	}
	if r.URL == nil || r.URL.User != nil || r.URL.Hostname() == "" {
		return nil, errors.New("boundary: the resolver gave no URL, or one with a user")
	}
	port, err := portOf(r.URL)
	if err != nil {
		return nil, err
	}
	pathTemplate, credentialRef := ownOf(c, req)
	target := record.ActionTarget{
		Channel: record.ChannelHTTP, Host: strings.ToLower(r.URL.Hostname()), Port: port, Protocol: r.URL.Scheme, Method: method(req),
		PathTemplate: first(r.PathTemplate, pathTemplate), Account: r.Account,
		CredentialRef: first(r.CredentialRef, credentialRef, record.NoCredential), Redaction: record.RedactionValues,
	}
	target.HeaderNames = t.headerNames(req, &target)
	if body != nil {
		target.BodyDigest = t.Executor.digest(body)
	}
	return &resolved{r.URL, target}, nil
}
