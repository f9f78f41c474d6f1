// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAQueryWithACredentialIsKnown(t *testing.T) {
	for _, query := range []string{
		`CREATE USER x PASSWORD 'y'`, `alter user x with encrypted password   'y'`, `CREATE USER x IDENTIFIED BY "y"`, `ALTER USER x identified by 'y'`,
		`select * from u where password = 'hunter2'`, `select * from u where u.api_key='a'`, "UPDATE u SET `secret` = 'a'", `UPDATE u SET [token]= 'a'`,
		`select dblink('host=x password=abc')`, `{"find":"users","filter":{"password":"x"}}`, `{ 'password' : 'x' }`, `CREATE SECRET (TYPE s3, SECRET 'x')`,
		`SELECT 'ghp_abcdefghijklmnopqrstuv12'`, `LOAD FROM 'https://u:p@host/x'`, `COPY t FROM 'postgres://u:p@db/x'`,
		`AUTH s3cret`, `auth default s3cret`, `HELLO 3 AUTH u p`, `CONFIG SET requirepass x`, `ACL SETUSER u >p`,
		"Bearer abcdefghijklmnop", strings.Repeat("x", MaxSearched+1),
	} {
		assert.True(t, QueryHoldsCredential(query), query[:min(len(query), 80)])
	}
}

func TestAQueryAboutCredentialsWithoutOneHasADigest(t *testing.T) {
	for _, query := range []string{
		"", `SELECT * FROM t WHERE token = $1`, `SELECT * FROM t WHERE password=?`, `SELECT token, secret FROM t`, `SELECT * FROM t WHERE secret IS NULL`,
		`select * from u where password = '?'`, `select * from u where password = '***'`, `select * from u where password = ''`, `{"filter":{"password":"?"}}`,
		`SELECT * FROM t WHERE country_code = 'DE' AND key = 'a'`, `SELECT "password", 'token' FROM t`, `SELECT a.token FROM a JOIN b ON a.token=b.token`,
		`SELECT * FROM t ORDER BY 'x'`, `AUTH ?`, `HELLO 3`, `AUTH`, `GET session:abc`, `SELECT 'it''s'`, `'`, `='`, `"`, `=`, `by '`,
	} {
		assert.False(t, QueryHoldsCredential(query), query)
	}
}

func BenchmarkQueryHoldsCredential(b *testing.B) {
	for name, unit := range map[string]string{"equals": "=", "quotes": "'", "blanks": " ", "assigned": "a='", "within": "'a = "} {
		b.Run(name, func(b *testing.B) {
			query := strings.Repeat(unit, MaxSearched/len(unit))
			for b.Loop() {
				QueryHoldsCredential(query)
			}
		})
	}
}

func FuzzQueryHoldsCredential(f *testing.F) {
	for _, s := range []string{"", "'", `password='`, `x identified by "`, "AUTH \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { QueryHoldsCredential(s) })
}
