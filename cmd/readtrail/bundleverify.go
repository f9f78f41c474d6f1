// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/bundle"
	"github.com/readtrail/readtrail/journal"
)

func newBundleVerifyCommand(con *console) *cobra.Command {
	v := &bundleVerification{con: con}
	cmd := &cobra.Command{
		Use:   "verify FILE --keys FILE --manifest-keys FILE",
		Short: "Check an evidence bundle, without the journals",
		Long: "Check that a bundle holds exactly what its signed manifest lists, and of each entry hash, signature, key at the\n" +
			"attested time, schema, and that it stands in the tree of a checkpoint that the journal signed. No journal and\n" +
			"no network is needed. Get both registries and the policy from their owners, not with the bundle.\n\n" +
			"Entries that the maker did not select cannot be known, unless the selection is a range of time or of sequences.\n\n" +
			"Exit codes: 0 nothing is broken and every demanded check was made; 1 broken; 2 something could not be\n" +
			"checked; 64 the command line is wrong.",
		Example: "  readtrail bundle verify run_1.bundle.tar --keys keys.json --manifest-keys manifest/keys.json --policy policy.json",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"keys", "manifest-keys", "policy"} {
				if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
					return usagef(cmd, "--%s is empty", name)
				}
			}
			return v.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.keys, "keys", "", "the registry of keys that are trusted to sign journals")
	flags.StringVar(&v.manifestKeys, "manifest-keys", "", "the registry of keys that are trusted to sign manifests")
	flags.StringVar(&v.policy, "policy", "", "who attests, and what is demanded")
	flags.BoolVar(&v.json, "json", false, "print one JSON document")
	return cmd
}

// bundleVerification verifies one bundle.
type bundleVerification struct {
	con                        *console
	keys, manifestKeys, policy string
	json                       bool
}

func (v *bundleVerification) run(ctx context.Context, path string) error {
	trust, err := v.trust()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open bundle: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open bundle: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	report, err := bundle.Verify(ctx, f, info.Size(), trust)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	code := report.ExitCode()
	if v.json {
		err = v.writeJSON(path, report)
	} else {
		v.write(path, report)
	}
	if err == nil && code != exitOK {
		err = verdict(code)
	}
	return err
}

func (v *bundleVerification) trust() (trust bundle.Trust, err error) {
	if v.keys != "" {
		if trust.Keys, err = journal.ReadRegistry(v.keys); err != nil {
			return trust, err
		}
	}
	if v.manifestKeys != "" {
		if trust.ManifestKeys, err = journal.ReadRegistry(v.manifestKeys); err != nil {
			return trust, err
		}
	}
	if v.policy != "" {
		trust.Policy, err = journal.ReadPolicy(v.policy)
	}
	return trust, err
}

func (v *bundleVerification) writeJSON(path string, r *bundle.Report) error {
	document := struct {
		Verifier string         `json:"verifier"`
		Target   string         `json:"target"`
		ExitCode int            `json:"exit_code"`
		Bundle   *bundle.Report `json:"bundle"`
		Next     string         `json:"next,omitzero"`
	}{Verifier: journal.VerifierVersion, Target: path, ExitCode: r.ExitCode(), Bundle: r}
	if r.FirstBad != nil {
		document.Next = bundle.CodeDoc(r.FirstBad.Code).Next
	}
	return writeJSON(v.con.out, document)
}

// write prints the report, one fact a line.
func (v *bundleVerification) write(path string, r *bundle.Report) {
	line := v.con.line
	line("bundle", path)
	if m := r.Manifest; m != nil {
		line("made_at", m.MadeAt.String())
		line("selection", selectionText(&m.Selection))
		line("journals", fmt.Sprint(len(m.Journals)))
		line("artifacts", fmt.Sprint(m.Artifacts.Count))
	}
	line("entries_checked", fmt.Sprint(r.EntriesChecked))
	line("omissions_declared", fmt.Sprint(r.OmissionsDeclared))
	for _, c := range []struct {
		name  string
		check journal.Check
	}{
		{"manifest_signature", r.ManifestSignature},
		{"membership", r.Membership},
		{"digests", r.Digests},
		{"merkle_root", r.MerkleRoot},
		{"entries", r.Entries},
		{"signature", r.Signature},
		{"schema", r.Schema},
		{"inclusion", r.Inclusion},
		{"checkpoints", r.Checkpoints},
		{"time", r.Time},
		{"witnessed", r.Witnessed},
		{"omissions", r.Omissions},
		{"completeness", r.Completeness},
	} {
		line(c.name, string(c.check))
	}
	if c := r.Reconciled; c != nil {
		writeReconciled(func(name string, value any) { line(name, fmt.Sprint(value)) }, c, string(c.Lineage), "in the bundle")
	}
	for i := range r.Declared {
		line("declared", declaredText(&r.Declared[i]))
	}
	for i := range r.Findings {
		v.writeFinding(&r.Findings[i])
	}
	if r.FirstBad != nil {
		line("next", bundle.CodeDoc(r.FirstBad.Code).Next)
	}
	if m := r.Manifest; m != nil && !m.Selection.Gapless() {
		v.con.note("entries that the maker did not select cannot be known from the bundle: only a range of time or of sequences shows that")
	}
}

func (v *bundleVerification) writeFinding(f *bundle.Finding) {
	parts := []string{string(f.Code)}
	if f.Name != "" {
		parts[0] += " " + f.Name
	}
	if f.Sequence > 0 {
		parts[0] += fmt.Sprintf(" at sequence %d", f.Sequence)
	}
	parts = append(parts, bundle.CodeDoc(f.Code).Meaning)
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	v.con.line(string(f.Class), strings.Join(parts, "; "))
}

func selectionText(s *bundle.Selection) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	add("decision", s.DecisionID)
	add("execution", s.ExecutionID)
	add("trace", s.TraceID)
	add("tool call", s.ToolCallID)
	add("kind", s.Kind)
	if s.FirstSequence > 0 {
		add("sequence", fmt.Sprintf("%d-%d", s.FirstSequence, s.LastSequence))
	}
	if !s.RecordedFrom.IsZero() {
		add("from", s.RecordedFrom.String())
	}
	if !s.RecordedUntil.IsZero() {
		add("until", s.RecordedUntil.String())
	}
	if len(parts) == 0 {
		return "every entry"
	}
	return strings.Join(parts, ", ")
}

func declaredText(d *bundle.Declared) string {
	if d.FirstSequence == d.LastSequence {
		return fmt.Sprintf("%s %d %s", d.JournalID, d.FirstSequence, d.Reason)
	}
	return fmt.Sprintf("%s %d-%d %s", d.JournalID, d.FirstSequence, d.LastSequence, d.Reason)
}
