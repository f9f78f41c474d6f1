// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/component/componenttest"
)

func TestDefaultsNameNoPlaceAndNoKey(t *testing.T) {
	cfg := NewFactory().CreateDefaultConfig()
	assert.Equal(t, &Config{}, cfg)
	assert.NoError(t, componenttest.CheckConfigStruct(cfg))
}
