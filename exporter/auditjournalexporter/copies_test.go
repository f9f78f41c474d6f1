// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
)

// memoryStore is an extension that notes what it is given, and what the journal
// had by then.
type memoryStore struct {
	component.StartFunc
	component.ShutdownFunc
	journal *memoryJournal
	fail    error
	puts    []string
}

func (m *memoryStore) Put(_ context.Context, organization, class string, copies []carrier.Copy) error {
	put := fmt.Sprintf("%s/%s after %d:", organization, class, len(m.journal.appends))
	for _, c := range copies {
		put += " " + c.Digest
	}
	m.puts = append(m.puts, put)
	return m.fail
}

func withStores(r *rig, ids ...string) map[string]*memoryStore {
	stores := map[string]*memoryStore{}
	for _, id := range ids {
		stores[id] = &memoryStore{journal: r.journal}
		var parsed component.ID
		if err := parsed.UnmarshalText([]byte(id)); err != nil {
			panic(err)
		}
		r.host.extensions[parsed] = stores[id]
	}
	return stores
}

func itemWithCopies(t *testing.T, readID, class, store string, digests ...string) carrier.Item {
	t.Helper()
	i := item(t, readID)
	i.Resource, i.Store = carrier.Resource{"class": class}, store
	for _, d := range digests {
		i.Copies = append(i.Copies, carrier.Copy{Digest: d, Content: []byte("CANARY")})
	}
	return i
}

func TestCopiesAreDurableBeforeTheRecordsThatNameThem(t *testing.T) {
	r := newRig(t, nil)
	stores := withStores(r, "evidence_store", "evidence_store/eu")
	batch := &carrier.Batch{Items: []carrier.Item{
		item(t, "read_a"),
		itemWithCopies(t, "read_b", "kyc", "evidence_store", "sha256:1", "sha256:2"),
		itemWithCopies(t, "read_c", "kyc", "evidence_store/eu", "sha256:3"),
		itemWithCopies(t, "read_d", "treasury", "evidence_store", "sha256:4"),
		itemWithCopies(t, "read_e", "kyc", "evidence_store", "sha256:5"),
	}}
	require.NoError(t, r.traces.ConsumeTraces(carrier.NewContext(t.Context(), batch), spanWith("")))
	assert.Equal(t, []string{"bank/kyc after 0: sha256:1 sha256:2 sha256:5", "bank/treasury after 0: sha256:4"}, stores["evidence_store"].puts)
	assert.Equal(t, []string{"bank/kyc after 0: sha256:3"}, stores["evidence_store/eu"].puts)
	assert.Equal(t, [][]carrier.Item{batch.Items}, r.journal.appends)
	assert.Empty(t, r.host.statuses())
}

func TestNothingIsAppendedWhenACopyCannotBeStored(t *testing.T) {
	r := newRig(t, nil)
	stores := withStores(r, "evidence_store")
	stores["evidence_store"].fail = errors.New("disk is full")
	ctx := carrier.NewContext(t.Context(), &carrier.Batch{Items: []carrier.Item{item(t, "read_a"), itemWithCopies(t, "read_b", "kyc", "evidence_store", "sha256:1")}})
	err := r.logs.ConsumeLogs(ctx, logWith(""))
	require.ErrorIs(t, err, stores["evidence_store"].fail)
	assert.False(t, consumererror.IsPermanent(err))
	assert.Empty(t, r.journal.appends)

	stores["evidence_store"].fail = nil
	require.NoError(t, r.logs.ConsumeLogs(ctx, logWith("")))
	assert.Len(t, r.journal.appends, 1)
}

func TestCopiesForAStoreThatIsNotThereAreRefusedAndMayBeRetried(t *testing.T) {
	for name, test := range map[string]struct{ store, want string }{
		"no such extension": {"evidence_store/us", `no extension "evidence_store/us" is running, and a read in this request has copies for it: ` +
			"configure extensions::evidence_store/us and list it in service::extensions"},
		"an extension that keeps no copies": {"audit_journal", "extension audit_journal keeps no copies, and a read in this request has some for it: " +
			"name an extension of type evidence_store as evidence_store in the read_record processor"},
		"none named": {"", `no extension "" is running`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			stores := withStores(r, "evidence_store")
			ctx := carrier.NewContext(t.Context(), &carrier.Batch{Items: []carrier.Item{
				itemWithCopies(t, "read_a", "kyc", "evidence_store", "sha256:1"), itemWithCopies(t, "read_b", "kyc", test.store, "sha256:1"),
			}})
			err := r.traces.ConsumeTraces(ctx, spanWith(""))
			require.ErrorContains(t, err, test.want)
			assert.False(t, consumererror.IsPermanent(err))
			assert.Empty(t, r.journal.appends)
			assert.Empty(t, stores["evidence_store"].puts, "all stores are found before the first is used")
			assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.statuses())
			metadatatest.AssertEqualExporterAuditJournalRefusals(t, r.tel,
				[]metricdata.DataPoint[int64]{{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", "no_evidence_store"))}},
				metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		})
	}
}
