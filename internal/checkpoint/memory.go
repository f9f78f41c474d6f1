// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"encoding/json/v2"
	"fmt"
	"path/filepath"

	"github.com/readtrail/readtrail/internal/durable"
)

// placesName is the file beside the tree that remembers how the places are doing,
// so that a gap that a journal says has begun is also said to have ended when the
// journal was closed meanwhile. It is a cache: without it a gap stays open.
const placesName = "places.json"

const maxPlacesBytes = 1 << 20

func (k *Keeper) placesPath() string { return filepath.Join(tilesDir(k.options.Dir), placesName) }

// remember reads how the places did before.
func (k *Keeper) remember() {
	text, err := durable.ReadWhole(k.options.FS, k.placesPath(), maxPlacesBytes)
	if err != nil {
		return
	}
	var known map[string]standing
	if json.Unmarshal(text, &known) != nil {
		return
	}
	for _, p := range k.places {
		p.standing = known[p.name]
	}
}

// save writes how the places are doing.
func (k *Keeper) save() {
	known := make(map[string]standing, len(k.places))
	for _, p := range k.places {
		if p.standing != (standing{}) {
			known[p.name] = p.standing
		}
	}
	text, err := json.Marshal(known, json.Deterministic(true))
	if err == nil && string(text) == k.saved {
		return
	}
	if err == nil {
		err = durable.ReplaceWhole(k.options.FS, k.placesPath(), text)
	}
	if err != nil {
		k.options.Observer.failed(fmt.Errorf("remember how checkpoint sinks are doing: %w", err))
		return
	}
	k.saved = string(text)
}
