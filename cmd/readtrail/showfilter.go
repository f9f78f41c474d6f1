// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/readtrail/readtrail/journal"
)

// bodies are the members that an entry's body can be (contract 1), of this
// version and of later ones.
var bodies = []string{
	"read_record", "decision_record", "action_record", "approval_record",
	"context_record", "lineage_record", "audit_event", "journal_record",
}

// filter says which entries are shown: those that meet every condition given.
type filter struct {
	sequence  string
	trace     string
	execution string
	toolCall  string
	kind      string

	// Conditions that only show knows.
	action, approval, decision, event, host string

	first, last uint64
}

func (f *filter) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.sequence, "sequence", "", "a sequence or a range: 7 or 10-20")
	flags.StringVar(&f.trace, "trace", "", "a trace id, 32 hex digits")
	flags.StringVar(&f.execution, "execution", "", "an execution id")
	flags.StringVar(&f.toolCall, "tool-call", "", "the tool call id that the model gave")
	flags.StringVar(&f.kind, "kind", "", "a kind of entry, such as read_record")
}

// registerNames makes the flags that name what a body is about.
func (f *filter) registerNames(flags *pflag.FlagSet) {
	flags.StringVar(&f.action, "action", "", "an action id: its plan, approvals and attempts, and what names it")
	flags.StringVar(&f.approval, "approval", "", "an approval id, or the request id of an audit event's approval")
	flags.StringVar(&f.decision, "decision", "", "a decision id, also that of an audit event's policy")
	flags.StringVar(&f.event, "event", "", "an event id: the entry, and what stands beside it about it")
	flags.StringVar(&f.host, "host", "", "the host that an action reaches for")
}

// parse reads the flags that register and registerNames made.
func (f *filter) parse(cmd *cobra.Command) error {
	for _, name := range []string{"sequence", "trace", "execution", "tool-call", "kind", "action", "approval", "decision", "event", "host"} {
		// It would select everything; a script's variable was empty.
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return usagef(cmd, "--%s is empty", name)
		}
	}
	if err := f.check(); err != nil {
		return usageError{cmd, err}
	}
	return nil
}

// check parses the conditions.
func (f *filter) check() error {
	f.last = ^uint64(0)
	if f.sequence != "" {
		first, last, isRange := strings.Cut(f.sequence, "-")
		if !isRange {
			last = first
		}
		var err, err2 error
		f.first, err = strconv.ParseUint(first, 10, 64)
		f.last, err2 = strconv.ParseUint(last, 10, 64)
		if err != nil || err2 != nil || f.first > f.last {
			return fmt.Errorf("--sequence %q is neither a number nor a range like 10-20", f.sequence)
		}
	}
	f.trace = strings.ToLower(f.trace)
	if f.trace != "" && (len(f.trace) != 32 || strings.Trim(f.trace, "0123456789abcdef") != "") {
		return fmt.Errorf("--trace %q is not a trace id of 32 hex digits", f.trace)
	}
	if f.kind != "" && !slices.Contains(bodies, f.kind) {
		return fmt.Errorf("--kind %q is none of %s", f.kind, strings.Join(bodies, ", "))
	}
	return nil
}

// matchesEntry tests what the header of an entry says.
func (f *filter) matchesEntry(e *journal.Entry) bool {
	h := &e.Header
	return h.Sequence >= f.first && h.Sequence <= f.last &&
		(f.kind == "" || f.kind == string(e.Kind)) &&
		(f.trace == "" || f.trace == h.Correlation.TraceID) &&
		(f.execution == "" || f.execution == h.Correlation.ExecutionID)
}

// matchesBody tests what the body of an entry says.
func (f *filter) matchesBody(o *observation) bool {
	return (f.event == "" || f.event == o.eventID || f.event == o.ofEvent) &&
		(f.toolCall == "" || f.toolCall == o.toolCall || f.toolCall == o.correlation.CallID) &&
		(f.action == "" || slices.Contains(o.actionIDs, f.action)) &&
		(f.approval == "" || slices.Contains(o.approvalIDs, f.approval)) &&
		(f.decision == "" || f.decision == o.decisionID) &&
		(f.host == "" || strings.EqualFold(f.host, o.host))
}
