// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"slices"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
)

// Compile returns what lifts and what strips as the configuration says. The
// processor and the CLI's lint use the same.
func (c *Config) Compile() (*genai.Lifter, *strip.Stripper, error) {
	options := strip.Options{Mode: c.Mode, Places: genai.ContentPlaces()}
	for _, k := range c.Keep {
		if k.SpanName != "" {
			options.KeepNames = append(options.KeepNames, k.SpanName)
			continue
		}
		shape, _ := content.ShapeNamed(k.Shape)
		options.Keep = append(options.Keep, content.Keep{Key: k.Key, Shape: shape})
	}
	stripper, err := strip.New(options)
	if err != nil {
		return nil, nil, err
	}
	sources := c.Sources
	if !c.Records {
		sources = keepingNothing(sources)
	}
	lifter, err := genai.New(genai.Options{
		Sources: sources, Digest: c.Digest, Profile: stripper.Profile(),
		Contexts: c.Contexts, LabelsOnly: !c.Records, NoNames: !c.Records && c.Mode == strip.Known,
	})
	if err != nil {
		return nil, nil, err
	}
	return lifter, stripper, nil
}

// keepingNothing returns rules by which no content is copied, for a processor
// that makes no records to name the copies.
func keepingNothing(sources []genai.SourceRule) []genai.SourceRule {
	sources = slices.Clone(sources)
	for i := range sources {
		sources[i].Retention = genai.Retention{}
	}
	return sources
}

// WithoutKeys returns the configuration without the keys of digests, for whoever
// asks what would happen and has no use for the digests themselves.
func (c *Config) WithoutKeys() *Config {
	plain := *c
	plain.Digest = genai.DigestConfig{}
	plain.Sources = slices.Clone(c.Sources)
	for i := range plain.Sources {
		plain.Sources[i].Digest = genai.DigestKey{}
	}
	return &plain
}
