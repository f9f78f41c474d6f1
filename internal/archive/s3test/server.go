// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package s3test has an S3 server for tests: one bucket with Object Lock, in
// memory, which fails, lies and forgets as it is told to. What real servers do is
// tested against real servers in package e2e.
package s3test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket is the name of the server's bucket.
const Bucket = "evidence"

// Fault is how a call goes wrong.
type Fault int

// The faults.
const (
	// Works is none.
	Works Fault = iota
	// Refused answers 500, and nothing was done.
	Refused
	// Dropped breaks the connection, and nothing was done.
	Dropped
	// Lost does what was asked and breaks the connection.
	Lost
	// Failed does what was asked and answers 500.
	Failed
)

// Version is one version of an object.
type Version struct {
	ID        string
	Data      []byte
	SHA256    string
	Stored    time.Time
	Mode      string
	Until     time.Time
	LegalHold string
	// Marker says that it is a delete marker.
	Marker bool
}

// Server is an S3 server. Its fields are for the test, before it calls or with
// Locked.
type Server struct {
	// URL is its endpoint.
	URL string
	// NoObjectLock is a bucket without.
	NoObjectLock bool
	// NoChecksums is a server that keeps none.
	NoChecksums bool
	// Retain, if set, changes the retention that is asked for into what is set.
	Retain func(mode string, until time.Time) (string, time.Time)
	// Now is the clock of the server.
	Now func() time.Time
	// PageSize is how many versions one page of a listing has.
	PageSize int
	// Cut, if positive, ends the body of every GetObject after so many bytes.
	Cut int

	mu    sync.Mutex
	fault func(operation, key string) Fault
	// asking is held while fault runs.
	asking  sync.Mutex
	objects map[string][]*Version
	calls   []string
	next    int
}

// Start runs a server until the test ends, and gives the process credentials for it.
func Start(t testing.TB) *Server {
	s := &Server{objects: map[string][]*Version{}, Now: time.Now, PageSize: 1000}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Credentials sets those of the AWS SDK, so that nothing else is looked for.
func Credentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// Fail has a function asked before every call, by the name of the operation in the
// S3 API, how it goes wrong: one call at a time. Nil is a server that works.
func (s *Server) Fail(fault func(operation, key string) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Versions returns the versions of an object, the oldest first.
func (s *Server) Versions(key string) []*Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.objects[key])
}

// Keys returns the keys of all objects, in order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Calls returns the operations since the last call of Calls.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// Put stores another version of an object, as somebody else does.
func (s *Server) Put(key string, v Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(key, &v)
}

// Change changes the oldest version of an object, as a medium that rots does.
func (s *Server) Change(key string, change func(*Version)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := *s.objects[key][0]
	v.Data = slices.Clone(v.Data)
	change(&v)
	s.objects[key][0] = &v
}

// Forget takes an object away, as a server does that locks nothing.
func (s *Server) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
}

// add puts a version over the others. The caller holds mu.
func (s *Server) add(key string, v *Version) {
	s.next++
	v.ID = "v" + strconv.Itoa(s.next)
	if v.Stored.IsZero() {
		v.Stored = s.Now().UTC().Truncate(time.Second)
	}
	s.objects[key] = append(s.objects[key], v)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != Bucket {
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	operation := operationOf(r, key)
	s.mu.Lock()
	s.calls = append(s.calls, operation)
	fails := s.fault
	s.mu.Unlock()
	fault := Works
	if fails != nil {
		s.asking.Lock()
		fault = fails(operation, key)
		s.asking.Unlock()
	}
	switch fault {
	case Refused:
		fail(w, http.StatusInternalServerError, "InternalError")
	case Dropped:
		panic(http.ErrAbortHandler)
	case Lost:
		s.serve(httptest.NewRecorder(), r, operation, key)
		panic(http.ErrAbortHandler)
	case Failed:
		s.serve(httptest.NewRecorder(), r, operation, key)
		fail(w, http.StatusInternalServerError, "InternalError")
	default:
		s.serve(w, r, operation, key)
	}
}

func operationOf(r *http.Request, key string) string {
	query := r.URL.Query()
	switch {
	case key == "" && query.Has("object-lock"):
		return "GetObjectLockConfiguration"
	case key == "" && query.Has("versions"):
		return "ListObjectVersions"
	case query.Has("retention") && r.Method == http.MethodPut:
		return "PutObjectRetention"
	case query.Has("retention"):
		return "GetObjectRetention"
	case query.Has("legal-hold") && r.Method == http.MethodPut:
		return "PutObjectLegalHold"
	case query.Has("legal-hold"):
		return "GetObjectLegalHold"
	case r.Method == http.MethodPut:
		return "PutObject"
	case r.Method == http.MethodHead:
		return "HeadObject"
	case r.Method == http.MethodGet:
		return "GetObject"
	}
	return r.Method
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, operation, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch operation {
	case "GetObjectLockConfiguration":
		if s.NoObjectLock {
			fail(w, http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
			return
		}
		answer(w, `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>`)
	case "ListObjectVersions":
		s.list(w, r.URL.Query())
	case "PutObject":
		s.put(w, r, key)
	default:
		s.version(w, r, operation, key)
	}
}
