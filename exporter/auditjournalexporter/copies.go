// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"fmt"

	"go.opentelemetry.io/collector/component"

	"github.com/readtrail/readtrail/internal/carrier"
)

// defaultStore is the type of the extension that keeps copies.
var defaultStore = component.MustNewType("evidence_store")

// parcel is what one store gets of a request, for one scope.
type parcel struct {
	keeper              carrier.Keeper
	organization, class string
	copies              []carrier.Copy
}

// parcels sorts the copies of the items by store and scope. Which store an item
// names is known only now: that is for the rule of the source to say.
func (e *journalExporter) parcels(items []carrier.Item) ([]*parcel, *refusal) {
	type address struct{ store, organization, class string }
	var parcels []*parcel
	byAddress := map[address]*parcel{}
	for i := range items {
		item := &items[i]
		if len(item.Copies) == 0 {
			continue
		}
		scope := e.journal.ScopeOf(item)
		to := address{item.Store, scope.OrganizationRef, scope.RetentionClass}
		if byAddress[to] == nil {
			keeper, refused := e.keeperOf(item.Store)
			if refused != nil {
				return nil, refused
			}
			byAddress[to] = &parcel{keeper: keeper, organization: to.organization, class: to.class}
			parcels = append(parcels, byAddress[to])
		}
		byAddress[to].copies = append(byAddress[to].copies, item.Copies...)
	}
	return parcels, nil
}

// keeperOf finds the store that a rule of the processor names.
func (e *journalExporter) keeperOf(store string) (carrier.Keeper, *refusal) {
	for id, extension := range e.host.GetExtensions() {
		if id.String() != store {
			continue
		}
		if k, ok := extension.(carrier.Keeper); ok {
			return k, nil
		}
		return nil, &refusal{"no_evidence_store", fmt.Sprintf("extension %s keeps no copies, and a read in this request has some for it: "+
			"name an extension of type %s as evidence_store in the read_record processor", store, defaultStore)}
	}
	return nil, &refusal{"no_evidence_store", fmt.Sprintf("no extension %q is running, and a read in this request has copies for it: "+
		"configure extensions::%[1]s and list it in service::extensions", store)}
}
