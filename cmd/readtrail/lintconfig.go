// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

// lintSettings say what the collector is configured to do.
type lintSettings struct {
	config, processor, mode string
}

func (s *lintSettings) checkMode() error {
	if s.mode == "" {
		return nil
	}
	var mode strip.Mode
	if err := mode.UnmarshalText([]byte(s.mode)); err != nil {
		return fmt.Errorf("--mode %q: %w", s.mode, err)
	}
	return nil
}

func (s *lintSettings) options(ctx context.Context) (lint.Options, error) {
	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	if s.config != "" {
		if err := s.read(ctx, config); err != nil {
			return lint.Options{}, fmt.Errorf("%s: %w", s.config, err)
		}
	}
	if s.mode != "" {
		config.Mode = strip.Mode(s.mode)
	}
	lifter, stripper, err := config.WithoutKeys().Compile()
	if err != nil {
		return lint.Options{}, err
	}
	return lint.Options{Lifter: lifter, Stripper: stripper, Records: config.Records}, nil
}

// read reads the section of the processor, and nothing else of the file, as the
// collector does.
func (s *lintSettings) read(ctx context.Context, config *readrecordprocessor.Config) error {
	data, err := os.ReadFile(s.config)
	if err != nil {
		return errors.Unwrap(err)
	}
	file, err := confmap.NewRetrievedFromYAML(data)
	if err != nil {
		return err
	}
	all, err := file.AsConf()
	if err != nil {
		return fmt.Errorf("is no configuration of a collector: %w", err)
	}
	processors, isMap := all.Get("processors").(map[string]any)
	if !isMap {
		return errors.New("processors: is no map with a section for read_record in this file")
	}
	name, err := s.section(processors)
	if err != nil {
		return err
	}
	section, err := resolve(ctx, processors[name])
	if err == nil {
		err = section.Unmarshal(config)
	}
	if err == nil {
		err = confmap.Validate(config)
	}
	if err != nil {
		return fmt.Errorf("processors::%s: %s", name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// section returns the name of the section to use: the one that was asked for,
// else read_record, else the only one of that type.
func (s *lintSettings) section(processors map[string]any) (string, error) {
	var names []string
	for name := range processors {
		if kind, _, _ := strings.Cut(name, "/"); strings.TrimSpace(kind) == readRecord.String() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	wanted := orElse(s.processor, readRecord.String())
	switch {
	case slices.Contains(names, wanted):
		return wanted, nil
	case len(names) == 0:
		return "", fmt.Errorf("processors: has no %s", readRecord)
	case s.processor == "" && len(names) == 1:
		return names[0], nil
	case s.processor == "":
		return "", fmt.Errorf("processors: has several of type %s: choose one with --processor: %s", readRecord, strings.Join(names, ", "))
	default:
		return "", fmt.Errorf("processors: has no %s, but %s", s.processor, strings.Join(names, ", "))
	}
}

var readRecord = readrecordprocessor.NewFactory().Type()

// sectionScheme is that of the section itself among the references.
const sectionScheme = "section"

// resolve replaces references such as ${env:NAME} as the distribution does.
func resolve(ctx context.Context, section any) (*confmap.Conf, error) {
	if section == nil {
		return confmap.New(), nil
	}
	if _, isMap := section.(map[string]any); !isMap {
		return nil, errors.New("is no map in this file")
	}
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs:          []string{sectionScheme + ":"},
		DefaultScheme: "env",
		ProviderFactories: []confmap.ProviderFactory{
			reference(sectionScheme, func(string) (*confmap.Retrieved, error) { return confmap.NewRetrieved(section) }),
			reference("env", fromEnvironment),
			reference("file", fromFile),
			reference("yaml", func(text string) (*confmap.Retrieved, error) { return confmap.NewRetrievedFromYAML([]byte(text)) }),
		},
	})
	if err != nil {
		return nil, err
	}
	return resolver.Resolve(ctx)
}

// fromEnvironment reads a variable. One that is not set and has no default is
// refused: the collector would take it for empty, and lint would be about
// another configuration than that of the collector's machine.
func fromEnvironment(text string) (*confmap.Retrieved, error) {
	name, fallback, hasFallback := strings.Cut(text, ":-")
	value, found := os.LookupEnv(name)
	switch {
	case found:
	case hasFallback:
		value = fallback
	default:
		return nil, fmt.Errorf("the variable %s is not set here: set it as the collector has it, or give a default as in ${env:%s:-default}", name, name)
	}
	return confmap.NewRetrievedFromYAML([]byte(value))
}

func fromFile(name string) (*confmap.Retrieved, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return confmap.NewRetrievedFromYAML(data)
}

// referenceProvider retrieves what stands for references of one scheme.
type referenceProvider struct {
	scheme string
	read   func(text string) (*confmap.Retrieved, error)
}

func reference(scheme string, read func(string) (*confmap.Retrieved, error)) confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return referenceProvider{scheme, read} })
}

func (p referenceProvider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	return p.read(strings.TrimPrefix(uri, p.scheme+":"))
}

func (p referenceProvider) Scheme() string { return p.scheme }

func (referenceProvider) Shutdown(context.Context) error { return nil }
