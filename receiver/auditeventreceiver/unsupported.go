// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"encoding/json/v2"

	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// unsupportedOf returns the ids of the claims of each context that are recorded as
// unsupported (requirement G3): of a repeat as the journal has them, whatever came
// since.
func (a *api) unsupportedOf(ctx context.Context, c *call, decoded []intake.Record, records []incoming, receipts []journal.Receipt) ([][]string, *problem) {
	unsupported := make([][]string, len(receipts))
	for i, receipt := range receipts {
		x, ok := decoded[i].Body.(*record.Context)
		if !ok || len(x.Claims) == 0 {
			continue
		}
		claims := x.Claims
		if receipt.Repeat {
			e, err := a.journal.FindRecord(ctx, *c.scope(), record.KindContext, records[i].draft.ID())
			if err != nil {
				return nil, a.unreadable(err)
			}
			var stored struct {
				Claims []record.Claim `json:"claims"`
			}
			_ = json.Unmarshal(e.Body, &stored) // an entry of ours
			claims = stored.Claims
		}
		for _, claim := range claims {
			if !claim.Supported {
				unsupported[i] = append(unsupported[i], claim.ClaimID)
			}
		}
	}
	return unsupported, nil
}
