// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadata"
	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/record"
)

// subject is who an authenticator says that a client is, "" if it says nothing.
type subject string

func (s subject) GetAttribute(name string) any {
	if name == "subject" {
		return string(s)
	}
	return nil
}

func (subject) GetAttributeNames() []string { return []string{"subject"} }

func from(ctx context.Context, name string) context.Context {
	return client.NewContext(ctx, client.Info{Auth: subject(name)})
}

// withCertificate is a request over gRPC whose client has a certificate that TLS verified.
func withCertificate(ctx context.Context, name pkix.Name) context.Context {
	leaf := &x509.Certificate{Subject: name}
	return peer.NewContext(ctx, &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}},
	}}})
}

// of is a resource that chooses a scope of the journal in memory.
func of(organization, class string) carrier.Resource {
	return carrier.Resource{"organization": organization, "class": class}
}

// batchOf is a batch with a record for each resource.
func batchOf(t *testing.T, resources ...carrier.Resource) *carrier.Batch {
	t.Helper()
	batch := &carrier.Batch{}
	for i, resource := range resources {
		item := item(t, fmt.Sprint("read_", i))
		item.Resource = resource
		batch.Items = append(batch.Items, item)
	}
	return batch
}

func skeletonsOf(resource carrier.Resource) *carrier.Batch {
	header := record.Header{EventType: record.EventLineageSpans, Correlation: record.Correlation{ExecutionID: "run-1", TraceID: fmt.Sprintf("%032x", 1)}}
	return &carrier.Batch{Lineages: []carrier.Lineage{{Header: header, Spans: []record.Span{{SpanID: fmt.Sprintf("%016x", 1)}}, Resource: resource}}}
}

func bind(clients ...upstream.Binding) func(*Config) {
	return func(c *Config) { c.Clients = clients }
}

func TestAClientWritesForItsOrganizationsOnly(t *testing.T) {
	bindings := bind(
		upstream.Binding{Subject: "a", OrganizationRef: "bank", RetentionClass: "kyc"},
		upstream.Binding{Subject: "b", OrganizationRef: "insurer"},
		upstream.Binding{Subject: "both", OrganizationRef: "insurer"},
		upstream.Binding{Subject: "both", OrganizationRef: "bank"},
		upstream.Binding{Subject: "CN=agents,O=Bank", OrganizationRef: "bank"},
	)
	forAll := bind(upstream.Binding{Subject: "*", OrganizationRef: "insurer"}, upstream.Binding{Subject: "a", OrganizationRef: "bank"})
	withoutLineage := func(c *Config) { bindings(c); c.Lineage = false }
	name := pkix.Name{CommonName: "agents", Organization: []string{"Bank"}}
	for what, test := range map[string]struct {
		config func(*Config)
		ctx    context.Context
		batch  *carrier.Batch
		taken  bool
	}{
		"its only scope":                             {bindings, from(t.Context(), "a"), batchOf(t, of("bank", "kyc")), true},
		"another class of its organization":          {bindings, from(t.Context(), "a"), batchOf(t, of("bank", "treasury")), false},
		"another organization":                       {bindings, from(t.Context(), "a"), batchOf(t, of("insurer", "kyc")), false},
		"no choice, where the base is another's":     {bindings, from(t.Context(), "b"), batchOf(t, nil), false},
		"its own and another's":                      {bindings, from(t.Context(), "b"), batchOf(t, of("insurer", "kyc"), of("bank", "kyc")), false},
		"any class of its organization":              {bindings, from(t.Context(), "b"), batchOf(t, of("insurer", "kyc"), of("insurer", "long")), true},
		"two organizations, both its own":            {bindings, from(t.Context(), "both"), batchOf(t, of("insurer", "kyc"), of("bank", "treasury")), true},
		"nobody that is bound":                       {bindings, from(t.Context(), "c"), batchOf(t, of("bank", "kyc")), false},
		"an authenticator that says nothing":         {bindings, from(t.Context(), ""), batchOf(t, of("bank", "kyc")), false},
		"nobody":                                     {bindings, t.Context(), batchOf(t, of("bank", "kyc")), false},
		"the subject of every client":                {bindings, from(t.Context(), "*"), batchOf(t, of("bank", "kyc")), false},
		"a certificate":                              {bindings, withCertificate(t.Context(), name), batchOf(t, of("bank", "kyc")), true},
		"a certificate of another":                   {bindings, withCertificate(t.Context(), pkix.Name{CommonName: "agents"}), batchOf(t, of("bank", "kyc")), false},
		"the authenticator goes before":              {bindings, withCertificate(from(t.Context(), "b"), name), batchOf(t, of("bank", "kyc")), false},
		"every client":                               {forAll, from(t.Context(), "c"), batchOf(t, of("insurer", "kyc")), true},
		"every client, also one that nobody knows":   {forAll, t.Context(), batchOf(t, of("insurer", "kyc")), true},
		"every client, elsewhere":                    {forAll, t.Context(), batchOf(t, of("bank", "kyc")), false},
		"what is every client's and what is its own": {forAll, from(t.Context(), "a"), batchOf(t, of("insurer", "kyc"), of("bank", "kyc")), true},
		"skeletons":                                  {bindings, from(t.Context(), "b"), skeletonsOf(of("insurer", "kyc")), true},
		"skeletons of another's":                     {bindings, from(t.Context(), "b"), skeletonsOf(of("bank", "kyc")), false},
		"skeletons that nobody wants":                {withoutLineage, from(t.Context(), "b"), skeletonsOf(of("bank", "kyc")), true},
		"nothing":                                    {bindings, t.Context(), &carrier.Batch{}, true},
		"no clients, any organization":               {nil, from(t.Context(), "b"), batchOf(t, of("bank", "kyc"), of("insurer", "kyc")), true},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, test.config)
			ctx := carrier.NewContext(test.ctx, test.batch)
			traces, logs := r.traces.ConsumeTraces(ctx, spanWith("")), r.logs.ConsumeLogs(ctx, logWith(""))
			if test.taken {
				require.NoError(t, traces)
				require.NoError(t, logs)
				return
			}
			assert.Empty(t, r.journal.appends)
			for _, err := range []error{traces, logs} {
				require.ErrorContains(t, err, "this client may not write for the organization, or to the retention class, that a resource of this request chooses")
				assert.True(t, consumererror.IsPermanent(err), "no retry helps")
				assert.Equal(t, codes.PermissionDenied, status.Code(err))
				for _, content := range []string{"bank", "insurer", "kyc", "read_"} {
					assert.NotContains(t, err.Error(), content, "who is refused learns nothing of others")
				}
			}
			metadatatest.AssertEqualExporterAuditJournalRefusals(t, r.tel,
				[]metricdata.DataPoint[int64]{{Value: 2, Attributes: attribute.NewSet(attribute.String("reason", "scope_forbidden"))}},
				metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
			assert.Empty(t, r.host.statuses(), "a client does not decide whether the collector is well")
		})
	}
}

func TestNoCopyIsKeptOfWhatIsRefused(t *testing.T) {
	r := newRig(t, bind(upstream.Binding{Subject: "a", OrganizationRef: "bank"}))
	stores := withStores(r, "evidence_store")
	mine, theirs := itemWithCopies(t, "read_a", "kyc", "evidence_store", "sha256:1"), item(t, "read_b")
	theirs.Resource = of("insurer", "kyc")
	elsewhere := itemWithCopies(t, "read_c", "kyc", "evidence_store/none", "sha256:1")
	elsewhere.Resource = of("insurer", "kyc")
	for _, items := range [][]carrier.Item{{mine, theirs}, {elsewhere}} {
		ctx := carrier.NewContext(from(t.Context(), "a"), &carrier.Batch{Items: items})
		require.Equal(t, codes.PermissionDenied, status.Code(r.traces.ConsumeTraces(ctx, spanWith(""))), "also before a store is looked for")
	}
	assert.Empty(t, stores["evidence_store"].puts)
	assert.Empty(t, r.journal.appends)

	require.NoError(t, r.traces.ConsumeTraces(carrier.NewContext(from(t.Context(), "a"), &carrier.Batch{Items: []carrier.Item{mine}}), spanWith("")))
	assert.Equal(t, []string{"bank/kyc after 0: sha256:1"}, stores["evidence_store"].puts)
}

func TestARefusedClientIsLoggedButNotForEachRequest(t *testing.T) {
	r := newRig(t, bind(upstream.Binding{Subject: "a", OrganizationRef: "bank"}))
	refuse := func(ctx context.Context) {
		require.Error(t, r.traces.ConsumeTraces(carrier.NewContext(ctx, batchOf(t, of("insurer", "kyc"))), spanWith("")))
	}
	refuse(from(t.Context(), "a"))
	refuse(t.Context())
	for range 100 {
		refuse(from(t.Context(), "a"))
	}
	lines := r.logged.FilterMessage("Refused telemetry that chooses an organization or retention class which its client may not write to").All()
	require.Greater(t, len(lines), 2)
	assert.Less(t, len(lines), 50)
	assert.Equal(t, map[string]any{"client": "a", "organization_ref": "insurer", "retention_class": "kyc"}, lines[0].ContextMap())
	assert.Equal(t, "unknown", lines[1].ContextMap()["client"])
}

func TestStartRefusesABindingToWhatTheJournalDoesNotHave(t *testing.T) {
	for want, binding := range map[string]upstream.Binding{
		"exporters::audit_journal::clients::1: the journal has no scope for organization club: add it to extensions::audit_journal::scope::routes": {
			Subject: "b", OrganizationRef: "club",
		},
		"exporters::audit_journal::clients::1: the journal has no scope for organization insurer and class treasury: add it to extensions::audit_journal::scope::routes": {
			Subject: "b", OrganizationRef: "insurer", RetentionClass: "treasury",
		},
		"": {Subject: "b", OrganizationRef: "bank", RetentionClass: "treasury"},
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.Clients = upstream.Bindings{{Subject: "a", OrganizationRef: "insurer"}, binding}
		set := exportertest.NewNopSettings(metadata.Type)
		set.ID = component.NewID(metadata.Type)
		e, err := NewFactory().CreateTraces(t.Context(), set, cfg)
		require.NoError(t, err)
		require.NoError(t, componenttest.CheckConfigStruct(cfg))
		journal := &memoryJournal{}
		if err := e.Start(t.Context(), hostWith(journal)); want == "" {
			require.NoError(t, err)
			assert.Equal(t, []string{"audit_journal true"}, journal.attached)
		} else {
			assert.EqualError(t, err, want)
			assert.Empty(t, journal.attached)
		}
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

func TestAnExporterWithoutClientsSaysSoToTheJournal(t *testing.T) {
	r := newRig(t, nil)
	for _, attached := range r.journal.attached {
		assert.Contains(t, attached, " false")
	}
	assert.Len(t, r.journal.attached, 2, "one for each signal")
}
