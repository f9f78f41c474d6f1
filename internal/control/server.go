// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"encoding/json/v2"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/netutil"

	"github.com/readtrail/readtrail/internal/ledger"
)

// Bounds of what a client can make the server hold.
const (
	// maxRequestBytes is the largest request: a checkpoint and a little more.
	maxRequestBytes = 128 << 10
	maxHeaderBytes  = 8 << 10
	maxConnections  = 16
	// readTimeout bounds how long a request may take to arrive. How long it takes to
	// answer depends on what has to be read.
	readTimeout = 10 * time.Second
)

// Journals is what a server serves.
type Journals struct {
	// Ledger returns the open ledger of a journal id, nil if there is none.
	Ledger func(journalID string) *ledger.Ledger
	// Archived is asked where a demanded copy is; nil if there is no archive.
	Archived Archived
	// Did is told what was asked for and how it went. It may be nil.
	Did func(operation, journalID string, err error)
}

// Server serves one control socket.
type Server struct {
	http *http.Server
	path string
	// own is the socket that is ours, so that no other is taken away.
	own os.FileInfo
	// done is closed when nothing is served any more.
	done chan struct{}
	// abort ends the contexts of all requests.
	abort context.CancelFunc
}

// Start listens on the control socket of a directory. A socket that nobody listens
// on any more is replaced; one that somebody does, a link and anything else that
// has its name is not.
func Start(dir string, journals Journals) (*Server, error) {
	listener, path, err := listen(dir)
	if err != nil {
		return nil, err
	}
	own, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	ctx, abort := context.WithCancel(context.Background())
	s := &Server{
		http: &http.Server{
			Handler: journals.handler(), ReadTimeout: readTimeout, MaxHeaderBytes: maxHeaderBytes,
			BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: silent,
		},
		path: path, own: own, done: make(chan struct{}), abort: abort,
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(netutil.LimitListener(listener, maxConnections)) // it ends with Shutdown
	}()
	return s, nil
}

// Shutdown ends what is being done, since a pruning may take long and can be asked
// for again, waits for that until ctx ends, and takes the socket away. It may be
// called again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.abort()
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	<-s.done
	if there, statErr := os.Lstat(s.path); statErr == nil && os.SameFile(there, s.own) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}

func (j Journals) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+pathStanding, handle(j, "", StandingRequest.journalID, Standing))
	mux.HandleFunc("POST "+pathHoldSet, handle(j, "set hold", HoldRequest.journalID, SetHold))
	mux.HandleFunc("POST "+pathHoldLifted, handle(j, "lift hold", HoldRequest.journalID, LiftHold))
	mux.HandleFunc("POST "+pathPrune, handle(j, "prune", PruneRequest.journalID,
		func(ctx context.Context, l *ledger.Ledger, r PruneRequest) (PruneResponse, error) {
			return Prune(ctx, l, r, j.Archived)
		}))
	return mux
}

func (r StandingRequest) journalID() string { return r.JournalID }
func (r HoldRequest) journalID() string     { return r.JournalID }
func (r PruneRequest) journalID() string    { return r.JournalID }

func (j Journals) find(id string) (*ledger.Ledger, error) {
	if l := j.Ledger(id); l != nil {
		return l, nil
	}
	return nil, errUnknownJournal()
}

// handle reads a request, has it done and writes the answer. Operations without a
// name change nothing, and nobody is told of them.
func handle[Request, Response any](j Journals, operation string, id func(Request) string,
	do func(context.Context, *ledger.Ledger, Request) (Response, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := readRequest[Request](http.MaxBytesReader(w, r.Body, maxRequestBytes))
		var l *ledger.Ledger
		if err == nil {
			l, err = j.find(id(request))
		}
		var answer any
		if err == nil {
			answer, err = do(r.Context(), l, request)
		}
		if j.Did != nil && operation != "" {
			j.Did(operation, id(request), err)
		}
		status := http.StatusOK
		if err != nil {
			failure := asFailure(err)
			answer, status = failure, failure.Code.status()
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, answer) // a client that is gone does not need it
	}
}

// readRequest reads one JSON object without any member that is not known.
func readRequest[Request any](body io.Reader) (request Request, err error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return request, requestError(errors.New("too large or cut off"))
	}
	if err := json.Unmarshal(text, &request, json.RejectUnknownMembers(true)); err != nil {
		return request, requestError(errors.New("not the JSON object that this version expects"))
	}
	return request, nil
}

func asFailure(err error) *Error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	return &Error{Code: CodeRefused, Message: err.Error()}
}

func (c Code) status() int {
	switch c {
	case CodeRequest:
		return http.StatusBadRequest
	case CodeJournal:
		return http.StatusNotFound
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusConflict
}
