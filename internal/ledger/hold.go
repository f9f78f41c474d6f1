// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// ErrHoldSet says that a hold of that id is set already.
	ErrHoldSet = errors.New("a legal hold of this id is set already; lift it first, or choose another id")
	// ErrNoHold says that no hold of that id is set.
	ErrNoHold = errors.New("no legal hold of this id is set")
	// ErrTooManyHolds says that a journal has as many holds as it can have.
	ErrTooManyHolds = errors.New("as many legal holds are set as a journal can have")
)

// maxHolds bounds the holds of a journal, which its writer keeps in memory.
const maxHolds = 1000

// holdID is givenId of the schema.
var holdID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@#+=-]{0,255}$`)

// CheckHold refuses a hold that no entry could hold. The error quotes nothing.
func CheckHold(h record.Hold) error {
	if !holdID.MatchString(h.HoldID) {
		return errors.New("hold id is not 1 to 256 letters, digits and ._:/@#+=- that begin with a letter or a digit")
	}
	return errors.Join(CheckWords("reason", h.Reason), CheckWords("requested by", h.RequestedBy))
}

// MaxWords bounds what an operator can say in an entry, in bytes.
const MaxWords = 1024

// CheckWords refuses what an operator said if it could not stand legibly in an
// entry.
func CheckWords(name, text string) error {
	if err := durable.CheckName(text, MaxWords); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

// SetHold sets a legal hold on the whole journal: until it is lifted nothing is
// pruned, whatever was planned before. It returns when that is durable, ErrHoldSet
// if a hold of that id is set.
func (l *Ledger) SetHold(ctx context.Context, h record.Hold) (journal.Receipt, error) {
	return l.changeHold(ctx, record.EventHoldSet, h, func(w *writer) error {
		switch {
		case w.standing.hold(h.HoldID) >= 0:
			return ErrHoldSet
		case len(w.standing.Holds) >= maxHolds:
			return ErrTooManyHolds
		}
		return nil
	})
}

// LiftHold lifts a legal hold. It returns ErrNoHold if none of that id is set.
func (l *Ledger) LiftHold(ctx context.Context, h record.Hold) (journal.Receipt, error) {
	return l.changeHold(ctx, record.EventHoldLifted, h, func(w *writer) error {
		if w.standing.hold(h.HoldID) < 0 {
			return ErrNoHold
		}
		return nil
	})
}

func (l *Ledger) changeHold(ctx context.Context, eventType string, h record.Hold, admit func(*writer) error) (journal.Receipt, error) {
	if err := CheckHold(h); err != nil {
		return journal.Receipt{}, err
	}
	body := about(eventType)
	body.Detail = h
	receipt, err := l.decree(ctx, body, admit)
	return receipt, l.place.hide(err)
}

// Standing returns the legal holds that are set and where the journal begins, as
// far as that is durable.
func (l *Ledger) Standing(ctx context.Context) (s Standing, err error) {
	err = l.do(ctx, func(w *writer) error {
		s = w.settled
		return nil
	})
	return s, err
}
