// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/client"
)

// auth is what an authenticator knows of a client.
type auth map[string]any

func (a auth) GetAttribute(name string) any { return a[name] }

func (a auth) GetAttributeNames() []string { return nil }

func TestSourceSaysWhoAuthenticatedTheClient(t *testing.T) {
	const extension = "authenticated:upstream" // the package of type auth
	for name, test := range map[string]struct {
		auth client.AuthData
		want string
	}{
		"nobody":                         {nil, "unverified_input"},
		"a subject":                      {auth{"subject": "agent@bank.example"}, "authenticated:agent@bank.example"},
		"a user name":                    {auth{"username": "agent-7", "raw": "c2VjcmV0"}, "authenticated:agent-7"},
		"a sub claim":                    {auth{"sub": "spiffe://bank/agent"}, "authenticated:spiffe://bank/agent"},
		"the subject before the user":    {auth{"subject": "a", "username": "b"}, "authenticated:a"},
		"the extension, for a token":     {auth{"raw": "c2VjcmV0"}, extension},
		"the extension, for free text":   {&auth{"subject": "Jane Doe, 12 High Street"}, extension},
		"the extension, for a long text": {auth{"subject": strings.Repeat("a", 300)}, extension},
		"the extension, for no string":   {auth{"subject": []string{"a"}}, extension},
		"the extension, for an empty id": {auth{"subject": ""}, extension},
		"the user, for no subject":       {auth{"subject": "", "username": "agent-7"}, "authenticated:agent-7"},
		"a type without a package":       {struct{ client.AuthData }{auth{}}, "authenticated:unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := client.NewContext(t.Context(), client.Info{Auth: test.auth})
			assert.Equal(t, test.want, source(ctx, ""))
		})
	}
	assert.Equal(t, "unverified_input", source(t.Context(), ""))
	assert.Equal(t, "authenticated:bearertokenauth", source(t.Context(), "bearertokenauth"))
}
