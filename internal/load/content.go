// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"

	"github.com/readtrail/readtrail/internal/cost"
)

// Content is what the tool calls are given and return.
type Content struct {
	// Name is how the report calls it.
	Name string
	// tool returns the arguments, 400 bytes, and the result, 1 KB, of the n-th call.
	tool func(n int) (arguments, result string)
}

// Contents returns plain text, which is digested as it is, and JSON, which has to be
// brought into the form of RFC 8785 before. What tools return is both.
func Contents() []Content { return []Content{{"text", plainText}, {"json", nestedJSON}} }

func plainText(n int) (arguments, result string) {
	_, result = cost.PlainText(n)
	return fmt.Sprintf("Look up customer KYC-%06d with name, address, accounts, risk class and beneficial owners as of the first of July 2026, "+
		"for the periodic review of case 4711, which is in the stage of enhanced due diligence and was opened on the twelfth of June. "+
		"Leave out accounts that are closed, answer in English, at most 25 accounts a page, and begin with the first page.", n), result
}

func nestedJSON(n int) (arguments, result string) {
	_, result = cost.NestedJSON(n)
	return fmt.Sprintf(`{"customer_id": "KYC-%06d", "fields": ["name", "address", "accounts", "risk_class", "beneficial_owners"], `+
		`"as_of": "2026-07-01", "reason": "periodic review", "case": {"id": "case-2026-004711", "stage": "enhanced due diligence", "opened": "2026-06-12"}, `+
		`"page": {"size": 25, "after": null}, "include_closed": false, "locale": "en-GB", "trace": "kyc/periodic/2026/07"}`, n), result
}
