// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// spanStatus says how a span ended as far as it tells. Instrumentation leaves
// the status of what succeeded unset (OpenTelemetry trace API, "Set Status"), so
// that a span that has ended without an error is ok. It is unknown if the span
// has no end, or if it recorded an exception of which nobody said whether it
// was handled.
func spanStatus(it *item, s ptrace.Span) record.Status {
	switch {
	case s.Status().Code() == ptrace.StatusCodeError || hasAny(it, "error.type"):
		return record.StatusError
	case s.Status().Code() == ptrace.StatusCodeOk:
		return record.StatusOK
	case s.EndTimestamp() == 0 || hasException(it):
		return record.StatusUnknown
	default:
		return record.StatusOK
	}
}

func hasException(it *item) bool {
	for _, e := range it.events {
		if e.Name() == "exception" {
			return true
		}
	}
	return false
}

// logStatus says how what a log record tells ended. A log record has no status;
// one that carries a result tells that there was one.
func logStatus(it *item, l plog.LogRecord, answered bool) record.Status {
	switch {
	case hasAny(it, "error.type", "exception.type") || l.SeverityNumber() >= plog.SeverityNumberError:
		return record.StatusError
	case answered:
		return record.StatusOK
	default:
		return record.StatusUnknown
	}
}

// outcomeOf reads an attribute that says how an item ended: a bool, or a word
// in any case. Other values say nothing.
func outcomeOf(key, succeeded, failed string) func(*item) record.Status {
	return func(it *item) record.Status {
		v, ok := it.get(key)
		if !ok {
			return ""
		}
		word := scalar(v)
		if v.Type() == pcommon.ValueTypeBool {
			word = strconv.FormatBool(v.Bool())
		}
		switch {
		case strings.EqualFold(word, failed):
			return record.StatusError
		case strings.EqualFold(word, succeeded):
			return record.StatusOK
		default:
			return ""
		}
	}
}

// ended is how the item ended: as its status says or, where that leaves it
// open or does not know of the failure, as an attribute of the library's does.
func (r *row) ended(it *item, status record.Status) record.Status {
	if r.outcome == nil || status == record.StatusError {
		return status
	}
	switch said := r.outcome(it); said {
	case record.StatusError:
		return said
	case record.StatusOK:
		if status == record.StatusUnknown {
			return said
		}
	}
	return status
}
