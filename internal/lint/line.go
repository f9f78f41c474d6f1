// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json/jsontext"
	"errors"
	"io"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	// maxLine is the longest line that is read, in bytes: an OTLP receiver takes
	// requests of that size.
	maxLine = 20 << 20
	// maxContainers bounds the objects and arrays of a line, each of which costs
	// much more memory than the two bytes that may spell it.
	maxContainers = 1 << 20
)

// Reason is why a line could not be read. Reasons are a closed set.
type Reason string

// The reasons.
const (
	// NotJSON: the line is not one JSON object, which it is not either if a
	// request is spread over several lines.
	NotJSON Reason = "not_json"
	// NotOTLP: it is an object without resourceSpans or resourceLogs, or one
	// that no OTLP receiver takes.
	NotOTLP Reason = "not_otlp"
	// TooLarge: it has more than 20 MiB or more than 1,048,576 objects and
	// arrays.
	TooLarge Reason = "too_large"
)

// Unreadable counts lines of an input that could not be read for one reason.
type Unreadable struct {
	Input  string `json:"input"`
	Reason Reason `json:"reason"`
	Count  int64  `json:"count"`
	// Lines are the numbers of the first 20 of them.
	Lines []int64 `json:"lines"`
}

// Read reads an input, one request a line, until it ends or the context does.
// It returns an error of the reader or of Options.Each; what a line holds is
// never one.
func (l *Linter) Read(ctx context.Context, name string, in io.Reader) error {
	l.inputs = append(l.inputs, name)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan line)
	go func() {
		defer close(lines)
		readLines(in, func(next line) bool {
			select {
			case lines <- next:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	for number := int64(1); ; number++ {
		select {
		case <-ctx.Done():
			return nil
		case next, more := <-lines:
			switch {
			case !more:
				return nil
			case next.err != nil:
				return next.err
			}
			l.line(Position{name, number}, next)
			if l.failed != nil {
				return l.failed
			}
		}
	}
}

// line is a line of an input, without its end, or the error that ended it.
type line struct {
	bytes   []byte
	tooLong bool
	err     error
}

// readLines calls yield with each line until it returns false. Of a line that
// is too long nothing is kept. It returns when the reader does, which for a
// pipe may be never.
func readLines(in io.Reader, yield func(line) bool) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		var next line
		var err error
		for {
			var part []byte
			part, err = r.ReadSlice('\n')
			if next.tooLong = next.tooLong || len(next.bytes)+len(part) > maxLine; next.tooLong {
				next.bytes = nil
			} else {
				next.bytes = append(next.bytes, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		next.bytes = bytes.TrimSpace(next.bytes)
		if err != nil && !errors.Is(err, io.EOF) {
			yield(line{err: err})
			return
		}
		if (err == nil || next.tooLong || len(next.bytes) > 0) && !yield(next) || err != nil {
			return
		}
	}
}

// line reads one line.
func (l *Linter) line(at Position, next line) {
	if len(next.bytes) == 0 && !next.tooLong {
		return
	}
	l.at = at
	l.lines++
	if next.tooLong {
		l.problems.add(at, TooLarge)
		return
	}
	asked, reason := parse(next.bytes)
	switch {
	case reason != "":
		l.problems.add(at, reason)
		return
	case !asked.hasTraces && !asked.hasLogs:
		l.metrics++
		return
	}
	if asked.hasTraces {
		l.traces(asked.traces)
	}
	if asked.hasLogs {
		l.logs(asked.logs)
	}
}

// request is what one line holds: by OTLP traces or logs, but nothing forbids
// both.
type request struct {
	hasTraces, hasLogs, hasOther bool
	traces                       ptrace.Traces
	logs                         plog.Logs
}

// parse reads a request, or says why it is none. It says nothing of what stands
// in the line, as the errors of JSON readers do.
func parse(data []byte) (request, Reason) {
	r, reason := outline(data)
	if reason != "" {
		return r, reason
	}
	var err error
	if r.hasTraces {
		if r.traces, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data); err != nil {
			return r, NotOTLP
		}
	}
	if r.hasLogs {
		if r.logs, err = (&plog.JSONUnmarshaler{}).UnmarshalLogs(data); err != nil {
			return r, NotOTLP
		}
	}
	if !r.hasTraces && !r.hasLogs && !r.hasOther {
		return r, NotOTLP
	}
	return r, ""
}

// outline reads the names of the members of a line, and whether it is JSON of a
// bearable size at all. Its depth is bounded by the JSON reader, at 10,000.
func outline(data []byte) (request, Reason) {
	var r request
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for containers := 0; ; {
		name := d.StackDepth() == 1 && isName(d)
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && containers > 0:
			return r, ""
		case err != nil || containers == 0 && token.Kind() != '{':
			return r, NotJSON
		case name && token.Kind() == '"':
			r.member(token.String())
		case token.Kind() == '{' || token.Kind() == '[':
			if containers++; containers > maxContainers {
				return r, TooLarge
			}
		}
		if d.StackDepth() == 0 && d.InputOffset() < int64(len(data)) {
			return r, NotJSON // a second value in the line
		}
	}
}

// isName reports whether the next token is a name of the object that is open.
func isName(d *jsontext.Decoder) bool {
	_, n := d.StackIndex(1)
	return n%2 == 0
}

// member notes what a request has, in both spellings of Protobuf's JSON.
func (r *request) member(name string) {
	switch name {
	case "resourceSpans", "resource_spans":
		r.hasTraces = true
	case "resourceLogs", "resource_logs":
		r.hasLogs = true
	case "resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles":
		r.hasOther = true
	}
}

// problems counts unreadable lines.
type problems map[problem]*Unreadable

type problem struct {
	input  string
	reason Reason
}

// maxNumbers bounds the line numbers that are remembered of one problem.
const maxNumbers = 20

func (p problems) add(at Position, reason Reason) {
	u := p[problem{at.Input, reason}]
	if u == nil {
		u = &Unreadable{Input: at.Input, Reason: reason}
		p[problem{at.Input, reason}] = u
	}
	if u.Count++; len(u.Lines) < maxNumbers {
		u.Lines = append(u.Lines, at.Line)
	}
}

func (p problems) sorted() []Unreadable {
	out := []Unreadable{}
	for _, u := range p {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Unreadable) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
