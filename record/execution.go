// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "bytes"

var (
	correlationBegins = []byte(`"correlation":{`)
	executionName     = []byte(`"execution_id"`)
)

// ExecutionIn returns correlation.execution_id of the first body in canonical JSON,
// be it a body or a line of a journal, as it is spelled there without its quotes;
// nil if it has none. No other member of a body is called correlation and holds an
// object, or stands before it, and the text of a string has its quotes escaped. It
// parses nothing else, so that it can be asked of every record.
func ExecutionIn(canonical []byte) []byte {
	at := bytes.Index(canonical, correlationBegins)
	if at < 0 {
		return nil
	}
	return executionOf(canonical[at+len(correlationBegins):])
}

// executionOf looks among the members of a correlation, whose values are strings.
func executionOf(rest []byte) []byte {
	for {
		name, behind := quoted(rest)
		if name == nil || len(behind) == 0 || behind[0] != ':' {
			return nil
		}
		value, behind := quoted(behind[1:])
		switch {
		case value == nil:
			return nil
		case bytes.Equal(name, executionName):
			return value[1 : len(value)-1]
		case len(behind) == 0 || behind[0] != ',':
			return nil
		}
		rest = behind[1:]
	}
}

// quoted returns the string that text begins with, with its quotes, and what stands
// behind it; nil if it begins with none.
func quoted(text []byte) (s, behind []byte) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text
	}
	for at := 1; ; at++ {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			return nil, text
		}
		at += end
		if escapes := text[1:at]; (len(escapes)-len(bytes.TrimRight(escapes, `\`)))%2 == 0 {
			return text[:at+1], text[at+1:]
		}
	}
}

// SpellExecution returns an execution id as ExecutionIn does.
func SpellExecution(id string) []byte {
	spelled := appendQuoted(make([]byte, 0, len(id)+2), id)
	return spelled[1 : len(spelled)-1]
}

// Execution returns the id of the execution that the draft belongs to, as ExecutionIn
// does.
func (d *Draft) Execution() []byte {
	correlation, found := d.body.get("correlation")
	if !found {
		return nil
	}
	return executionOf(correlation[1:])
}
