// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// operation is how a command writes to a journal: through the collector that has
// it open, or by opening it itself.
type operation struct {
	key         string
	requestedBy string
	// archived is asked for copies of a journal that the command opens itself.
	archived control.Archived
}

const operationHelp = "A collector that writes the journal is asked through its control socket; then this must run as the\n" +
	"collector's user or as root. Without one, the journal is opened here, with the key of --signing-key. A collector whose key is in a token\n" +
	"or in the environment has no such file: start it first."

func (o *operation) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.key, "signing-key", "", "the signing key, for a journal that no collector has open")
	flags.StringVar(&o.requestedBy, "requested-by", "", "the person who asks, as it stands in the journal (default: the name of this user)")
}

func (o *operation) check(cmd *cobra.Command) error {
	if o.requestedBy == "" {
		if u, err := user.Current(); err == nil {
			o.requestedBy = u.Username
		}
	}
	if err := ledger.CheckWords("requested by", o.requestedBy); err != nil {
		return usagef(cmd, "--requested-by: %w", err)
	}
	return nil
}

// interruptible returns a context that an interrupt ends, so that a journal that was
// opened here is closed.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt)
}

// writer writes to one journal.
type writer interface {
	SetHold(context.Context, control.HoldRequest) (journal.Receipt, error)
	LiftHold(context.Context, control.HoldRequest) (journal.Receipt, error)
	Prune(context.Context, control.PruneRequest) (control.PruneResponse, error)
}

// depth is how many directories a journal stands below that of the control
// socket: organization, class and kind (contract 7).
const depth = 3

// reach returns who writes to the journal in a directory, and what ends that.
func (o *operation) reach(ctx context.Context, dir, journalID string) (writer, func() error, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, nil, err
	}
	for range depth {
		root = filepath.Dir(root)
	}
	client, err := control.NewClient(root)
	if err == nil {
		_, err = client.Standing(ctx, control.StandingRequest{JournalID: journalID})
	}
	var failure *control.Error
	switch {
	case err == nil:
		return client, func() error { return nil }, nil
	case errors.Is(err, control.ErrNoCollector), errors.As(err, &failure) && failure.Code == control.CodeJournal:
		return o.open(ctx, dir)
	}
	return nil, nil, err
}

// local writes to a journal that was opened here.
type local struct {
	*ledger.Ledger
	archived control.Archived
}

func (l local) SetHold(ctx context.Context, r control.HoldRequest) (journal.Receipt, error) {
	return control.SetHold(ctx, l.Ledger, r)
}

func (l local) LiftHold(ctx context.Context, r control.HoldRequest) (journal.Receipt, error) {
	return control.LiftHold(ctx, l.Ledger, r)
}

func (l local) Prune(ctx context.Context, r control.PruneRequest) (control.PruneResponse, error) {
	return control.Prune(ctx, l.Ledger, r, l.archived)
}

// cliID is the collector_id of what the command line writes itself.
const cliID = "readtrail-cli"

// open opens a journal that nobody writes. The caches of the collector are left
// alone: what they do not know they learn.
func (o *operation) open(ctx context.Context, dir string) (writer, func() error, error) {
	if o.key == "" {
		return nil, nil, fmt.Errorf("no collector that writes %s answers: start it, which is the only way if its key is in a token or in the environment, or give --signing-key FILE to open the journal here", dir)
	}
	signers, err := journal.NewFileSigners(o.key)
	if err != nil {
		return nil, nil, err
	}
	scope, err := scopeOf(dir)
	if err != nil {
		return nil, nil, err
	}
	index, err := os.MkdirTemp("", "readtrail-index-")
	if err != nil {
		return nil, nil, err
	}
	l, err := ledger.Open(ctx, ledger.Options{
		Dir: dir, Signer: signers[0], Outgoing: signers[1:], CollectorID: cliID, Scope: scope, IndexDir: index,
	})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(index))
	}
	return local{l, o.archived}, func() error {
		return errors.Join(l.Close(context.WithoutCancel(ctx)), os.RemoveAll(index))
	}, nil
}

// scopeOf returns the scope of the newest entry that has one.
func scopeOf(dir string) (record.Scope, error) {
	e, err := ledger.LastEntry(durable.OS{}, dir)
	if err != nil {
		return record.Scope{}, err
	}
	return e.Header.Scope, nil
}

// copies are those of one journal in an archive.
type copies struct {
	archive *archive.Archive
	of      archive.Journal
}

func copiesIn(a *archive.Archive, source *journal.Source) (*copies, error) {
	j, err := archive.ReadJournal(source)
	if err != nil {
		return nil, err
	}
	return &copies{a, j}, nil
}

// held says whether a segment that may go is held, for a plan.
func (c *copies) held(ctx context.Context, name string) error {
	_, err := c.archive.Held(ctx, c.of, name)
	return err
}

// archived is what the one who prunes asks of the bytes that it is about to
// remove.
func (c *copies) archived(ctx context.Context, _ string, s record.PrunedSegment) (string, error) {
	return c.archive.Asks(c.of)(ctx, s)
}
