// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "fmt"

// audited counts the audit events of a journal. What one names - the entries of its
// lineage, artifacts and effects at the source - stands in other journals, and in
// other systems: a verifier of one journal alone compares none of it, and says so
// (requirement E4, step 8). With a Reconciliation, that says what was compared.
type audited struct {
	first, count uint64
}

func (a *audited) add(c *checked) {
	if !c.audited {
		return
	}
	if a.count == 0 {
		a.first = c.sequence
	}
	a.count++
}

// finishAudited says that nothing was reconciled, which is no note if the policy
// demands it.
func (v *verifier) finishAudited() {
	if v.audited.count == 0 || v.reconciling != nil {
		return
	}
	f := Finding{Code: CodeReconcileNotPerformed, Sequence: v.audited.first}
	if v.audited.count > 1 {
		f.Detail = fmt.Sprintf("%d audit events", v.audited.count)
	}
	if v.options.Policy.Demands(DemandLineage) || v.options.Policy.Demands(DemandArtifacts) {
		f.Class = ClassUnchecked
	}
	v.note(f)
}
