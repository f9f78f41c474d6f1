// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// keeper is what the receiver needs of the extension that it names.
type keeper interface {
	scoper
	// HasActions reports whether the extension keeps journals of actions.
	HasActions() bool
	// AppendStrict writes drafts of one journal, all or none. It returns when all are
	// on disk, with their receipts in the order of the drafts, or an error: a
	// *ledger.Refusal if sending the same again does not help.
	AppendStrict(ctx context.Context, scope record.Scope, drafts []*record.Draft) ([]journal.Receipt, error)
	// Lookup returns durable entries of the journal of actions of a scope by ids or
	// marks of drafts, nil for one that is not there.
	Lookup(ctx context.Context, scope record.Scope, ids ...string) ([]*journal.Entry, error)
	// Follow follows an execution through the journals of reads of an organization.
	// Wake is told whenever it got entries.
	Follow(organization, executionID string, wake chan<- struct{}) (ledger.Trails, error)
	// FindRecord returns the entry with a record id in the journal of a scope that has
	// records of a kind, and FindRead that of a read in an organization. The error is
	// ledger.ErrNotFound if there is none.
	FindRecord(ctx context.Context, scope record.Scope, kind record.Kind, id string) (*journal.Entry, error)
	FindRead(ctx context.Context, organization, readID string) (*journal.Entry, error)
	// Receipt returns the receipt of an entry and, if prove asks for it and a
	// checkpoint covers the entry, the proof of that. The error is ledger.ErrNotFound
	// if the scope has no such entry, and ledger.ErrPruned if it had.
	Receipt(ctx context.Context, organization, class, eventID string, prove bool) (journal.Receipt, *journal.InclusionProof, error)
}

// keeperOf finds the extension that the configuration names.
func keeperOf(host component.Host, id component.ID) (keeper, error) {
	extension, found := host.GetExtensions()[id]
	if !found {
		return nil, fmt.Errorf("journal: no extension %s is running: configure extensions::%[1]s and list it in service::extensions", id)
	}
	k, ok := extension.(keeper)
	if !ok {
		return nil, fmt.Errorf("journal: extension %s keeps no journal: name an extension of type %s and list it in service::extensions", id, defaultJournal.Type())
	}
	if !k.HasActions() {
		return nil, fmt.Errorf("journal: extension %s keeps no journal of actions: set extensions::%[1]s::actions to true", id)
	}
	return k, nil
}
