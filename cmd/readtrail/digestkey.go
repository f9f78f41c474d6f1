// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
)

// digestKey are the flags that name a key of digests.
type digestKey struct{ file, id string }

func (k *digestKey) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.file, "key", "", "file with the key of keyed digests, readable by its owner only")
	cmd.Flags().StringVar(&k.id, "key-id", "", "id of the key, which stands in the digests after hmac-sha256:")
}

// read returns the key, content.Plain if none is named.
func (k *digestKey) read(cmd *cobra.Command) (*content.Key, error) {
	named := cmd.Flags().Changed("key")
	switch {
	case named != cmd.Flags().Changed("key-id"):
		return nil, usagef(cmd, "give both --key and --key-id, or none")
	case !named:
		return content.Plain, nil
	case !content.ValidKeyID(k.id):
		return nil, usagef(cmd, "--key-id must be 1 to 128 letters, digits and ._-")
	}
	key, err := content.ReadKeyFile(k.id, k.file)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	return key, nil
}
