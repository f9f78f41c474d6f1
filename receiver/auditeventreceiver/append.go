// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// incoming is a record as it came, ready for the journal.
type incoming struct {
	draft *record.Draft
	// pointer is where the body stands in the request (RFC 6901).
	pointer string
	// beside is what has to stand behind the record, nil if nothing has.
	beside *record.Draft
}

// draftsOf returns what is written for records, and of which record each draft is.
func draftsOf(records []incoming) (drafts []*record.Draft, of []int) {
	for i, r := range records {
		drafts, of = append(drafts, r.draft), append(of, i)
		if r.beside != nil {
			drafts, of = append(drafts, r.beside), append(of, i)
		}
	}
	return drafts, of
}

// ownReceipts returns the receipts of the records alone, in their order.
func ownReceipts(receipts []journal.Receipt, of []int) []journal.Receipt {
	own := receipts[:0:0]
	for i, r := range receipts {
		if of[i] == len(own) {
			own = append(own, r)
		}
	}
	return own
}

// append writes records of one call to the journal, all or none, and answers once
// they are on disk.
func (a *api) append(ctx context.Context, c *call, records []incoming) ([]journal.Receipt, *problem) {
	if len(records) == 0 {
		return nil, newProblem(codeMalformed, "the request has no record")
	}
	ctx, cancel := context.WithTimeout(ctx, a.config.Limits.JournalTimeout)
	defer cancel()
	drafts, of := draftsOf(records)
	for _, r := range records {
		if r.draft.OfActions() != drafts[0].OfActions() {
			p := newProblem(codeMalformed, "context_record and the other records stand in different journals; send them in requests of their own")
			p.Pointer = fragment(r.pointer)
			return nil, p
		}
	}
	receipts, err := a.journal.AppendStrict(ctx, *c.scope(), drafts)
	if refusal, refused := errors.AsType[*ledger.Refusal](err); refused {
		return nil, refusedBy(refusal, records, of)
	}
	if err != nil {
		a.assembler.LookAgain() // the records may be on disk all the same
		return nil, a.unavailable(err)
	}
	a.health.available()
	a.assembler.Saw(*c.scope(), drafts)
	return ownReceipts(receipts, of), nil
}

// unavailable is the answer when it is not known whether the journal has the records.
// What the error says is for the operator: the extension logs it.
func (a *api) unavailable(err error) *problem {
	a.logger.Debug("Journal did not take a request", zap.Error(err))
	if errors.Is(err, context.Canceled) {
		return newProblem(codeUnavailable, "the client went away").after(a.config.Limits.RetryAfter)
	}
	a.health.unavailable(err)
	return newProblem(codeUnavailable, "the journal did not say that the records are on disk; send the same request again, which leaves no second entry").
		after(a.config.Limits.RetryAfter)
}

// unreadable is the answer when the journal cannot be asked.
func (a *api) unreadable(err error) *problem {
	a.logger.Debug("Journal did not answer a request", zap.Error(err))
	return newProblem(codeUnavailable, "the journal could not be read; ask again").after(a.config.Limits.RetryAfter)
}

// sawJournal tells health what a call of the journal says of it.
func (a *api) sawJournal(err error) {
	_, refused := errors.AsType[*ledger.Refusal](err)
	switch {
	case err == nil, refused:
		a.health.available()
	case !errors.Is(err, context.Canceled):
		a.health.unavailable(err)
	}
}

// fragment spells a JSON Pointer as a URI fragment, as problem details do.
func fragment(pointer string) string { return "#" + pointer }

// receiptsReply answers with receipts. unmet says of each record what is not confirmed
// of it, and unsupported which of its claims are not supported; if anything is unmet
// and the configuration enforces that nothing is, the answer is a problem with the same
// receipts.
func (a *api) receiptsReply(records []incoming, receipts []journal.Receipt, unmet [][]record.Unmet, unsupported [][]string) reply {
	given := make([]receipt, len(receipts))
	first := -1
	var counts []written
	for i, got := range receipts {
		given[i] = receipt{Receipt: got, Repeat: got.Repeat, Unmet: unmet[i], Unsupported: unsupported[i]}
		counts = append(counts, written{records[i].draft.Kind(), got.Repeat})
		if !got.Repeat {
			a.instruments.unmet(unmet[i])
		}
		if first < 0 && len(unmet[i]) > 0 {
			first = i
		}
	}
	var r reply
	if first >= 0 && a.config.FieldProvenance == provenanceEnforce {
		p := newProblem(codeUnmet, "the record is in the journal, which does not confirm what it cites, see unmet; a corrected one needs an id of its own")
		p.Pointer, p.Receipt, p.Receipts = fragment(records[first].pointer), &given[first], given
		r = p.reply()
	} else {
		body, _ := json.Marshal(struct {
			Receipts []receipt `json:"receipts"`
		}{given}) // strings, numbers and times always marshal
		r = reply{status: http.StatusOK, media: mediaJSON, body: append(body, '\n')}
	}
	r.written = counts
	return r
}
