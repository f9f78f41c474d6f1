// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/readtrail/readtrail/extension/evidencestoreextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

// host keeps the statuses that are reported to it.
type host struct {
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (*host) GetExtensions() map[component.ID]component.Component { return nil }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// statuses spells each status with its error.
func (h *host) statuses() (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		text := e.Status().String()
		if e.Err() != nil {
			text += ": " + e.Err().Error()
		}
		out = append(out, text)
	}
	return out
}

// configFor has one set of the class kyc.
func configFor(t testing.TB, directory string) (*Config, *age.X25519Identity) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return &Config{
		Directory:  directory,
		Recipients: []RecipientsConfig{{RetentionClass: "kyc", Set: "all", Keys: []string{identity.Recipient().String()}}},
	}, identity
}

func newExtension(t testing.TB, cfg *Config, tel *componenttest.Telemetry) *keeper {
	t.Helper()
	set := extensiontest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	if tel != nil {
		set.TelemetrySettings = tel.NewTelemetrySettings()
	}
	ext, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	return ext.(*keeper)
}

// start starts the extension and shuts it down after the test.
func start(t testing.TB, k *keeper, h component.Host) {
	t.Helper()
	require.NoError(t, k.Start(t.Context(), h))
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, k.Shutdown(ctx)) })
}

func copyOf(content string) carrier.Copy {
	return carrier.Copy{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))), Content: []byte(content)}
}

// requireKept demands that an auditor gets a copy back.
func requireKept(t testing.TB, fs durable.FS, directory string, identity age.Identity, c carrier.Copy) {
	t.Helper()
	r := &evidence.Reader{Places: []evidence.Reading{evidence.Directory{FS: fs, Root: directory}}, Identities: []age.Identity{identity}}
	d, err := content.ParseDigest(c.Digest)
	require.NoError(t, err)
	var got bytes.Buffer
	_, err = r.Get(t.Context(), "bank", "kyc", d, &got)
	require.NoError(t, err)
	require.Equal(t, string(c.Content), got.String())
}
