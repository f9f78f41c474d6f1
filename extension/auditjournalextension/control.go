// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/ledger"
)

// startControl listens for the operator's commands. That it cannot, on a file
// system without sockets for one, is no reason not to record.
func (j *journals) startControl() {
	served := control.Journals{Ledger: j.ledgerOf, Did: j.did}
	if j.archiver != nil {
		served.Archived = j.archiver.held
	}
	server, err := control.Start(j.config.Directory, served)
	if err != nil {
		j.logger.Warn("Control socket cannot be opened: legal holds and pruning need the collector to be stopped", zap.Error(err))
		return
	}
	j.control = server
}

func (j *journals) stopControl(ctx context.Context) {
	if j.control == nil {
		return
	}
	if err := j.control.Shutdown(ctx); err != nil {
		j.logger.Warn("Control socket did not close in time", zap.Error(err))
	}
}

// ledgerOf returns the open ledger of a journal id, nil if there is none.
func (j *journals) ledgerOf(journalID string) *ledger.Ledger {
	for _, opened := range j.running() {
		if opened.JournalID() == journalID {
			return opened.Ledger
		}
	}
	return nil
}

// did logs what an operator had done. The journal id of a command that failed may
// be anything, so only one of ours is named.
func (j *journals) did(operation, journalID string, err error) {
	logger := j.logger.With(zap.String("operation", operation))
	if j.ledgerOf(journalID) != nil {
		logger = logger.With(zap.String("journal_id", journalID))
	}
	var failure *control.Error
	switch {
	case err == nil:
		logger.Info("Control command is done")
	case errors.As(err, &failure):
		logger.Warn("Control command is refused", zap.String("code", string(failure.Code)), zap.Error(err))
	default:
		logger.Warn("Control command failed", zap.Error(err))
	}
}
