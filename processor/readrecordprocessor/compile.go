// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
)

// Compile returns what lifts and what strips as the configuration says. The
// processor and the CLI's lint use the same.
func (c *Config) Compile() (*genai.Lifter, *strip.Stripper, error) {
	options := strip.Options{Mode: strip.Mode(c.Mode), Places: genai.ContentPlaces()}
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
	lifter, err := genai.New(genai.Options{Sources: c.Sources, Profile: stripper.Profile()})
	if err != nil {
		return nil, nil, err
	}
	return lifter, stripper, nil
}
