// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/record"
)

// Config says what leaves, what becomes a record, and what is known of the
// sources that are read.
type Config struct {
	// Mode says what of the telemetry leaves.
	Mode strip.Mode `mapstructure:"mode"`

	// Records says whether records are made. Without them the processor only
	// strips, for a pipeline that leads to tracing.
	Records bool `mapstructure:"records"`

	// Contexts says whether records are made of what went into model calls too.
	Contexts bool `mapstructure:"contexts"`

	// Authenticator names the auth extension of the pipeline's receivers if it
	// tells nothing of the clients that it lets in (bearertokenauth). Set it only
	// if every receiver of the pipeline has that extension.
	Authenticator string `mapstructure:"authenticator"`

	// Keep extends the list of what leaves in mode strict.
	Keep []KeepConfig `mapstructure:"keep"`

	// Digest is the key with which digests are made. Without one they are plain.
	Digest genai.DigestConfig `mapstructure:"digest"`

	// Sources say what telemetry does not know of a source, and what is kept of
	// it. The first that matches a read applies; attributes that the application
	// set win over it.
	Sources []genai.SourceRule `mapstructure:"sources"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// KeepConfig is an attribute or a span name that is known to be harmless.
type KeepConfig struct {
	// Key is an attribute key, or a prefix that ends with ".*".
	Key string `mapstructure:"key"`

	// Shape is what the values of the key look like. Required with a key: a
	// value of another shape is removed.
	Shape string `mapstructure:"shape"`

	// SpanName is a span name, instead of a key.
	SpanName string `mapstructure:"span_name"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Validate checks what no nested section can check alone.
func (c *Config) Validate() error {
	if c.Authenticator != "" && !record.ValidGivenID(c.Authenticator) {
		return errors.New("authenticator must be the id of an extension, such as bearertokenauth")
	}
	if c.Contexts && !c.Records {
		return errors.New("contexts are records: set records to true too, or contexts to false")
	}
	return genai.CheckConfig(&c.Digest, c.Sources)
}

// Validate checks that the entry names one thing which may be kept.
func (k *KeepConfig) Validate() error {
	switch {
	case (k.Key == "") == (k.SpanName == ""):
		return errors.New("set either key or span_name")
	case k.SpanName != "" && k.Shape != "":
		return errors.New("shape belongs to a key; a span_name has none")
	case k.SpanName != "":
		return nil
	}
	shape, found := content.ShapeNamed(k.Shape)
	if !found {
		return fmt.Errorf("shape must be one of %s", strings.Join(content.ShapeNames(), ", "))
	}
	_, err := content.NewPolicy(genai.ContentPlaces(), []content.Keep{{Key: k.Key, Shape: shape}})
	if inner := errors.Unwrap(err); inner != nil {
		return inner // without its own idea of where the entry stands
	}
	return err
}
