// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"encoding/json/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// The server's own metrics are counted in full by what the rig gives it, as at the
// level detailed.
func TestNoMetricHasTheNameByWhichAClientCalls(t *testing.T) {
	r := newRig(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url("/v1/receipts/evt_1"), nil)
	require.NoError(t, err)
	req.Host = "CANARY-18.example:81"
	res, err := r.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())

	var metrics metricdata.ResourceMetrics
	require.NoError(t, r.tel.Reader.Collect(t.Context(), &metrics))
	text, err := json.Marshal(metrics.ScopeMetrics)
	require.NoError(t, err)
	require.Contains(t, string(text), "http.server.request.duration")
	require.Contains(t, string(text), "server.address")
	require.NotContains(t, string(text), "CANARY")
}
