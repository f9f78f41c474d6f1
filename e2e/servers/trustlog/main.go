// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Command trustlog has a litewitness take the checkpoints of a log, as witnessctl
// add-log and add-key do: trustlog DATABASE VERIFIER_KEY. (witnessctl itself does
// not build with the modules that can be had.)
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: trustlog DATABASE VERIFIER_KEY")
		os.Exit(64)
	}
	if err := trust(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "trustlog:", err)
		os.Exit(1)
	}
}

func trust(database, key string) error {
	db, err := sqlite.OpenConn(database, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer db.Close()
	origin, _, _ := strings.Cut(key, "+")
	empty := sha256.Sum256(nil)
	root := base64.StdEncoding.EncodeToString(empty[:])
	if err := sqlitex.Execute(db, "INSERT OR IGNORE INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)",
		&sqlitex.ExecOptions{Args: []any{origin, root}}); err != nil {
		return err
	}
	return sqlitex.Execute(db, "INSERT INTO key (origin, key) VALUES (?, ?)", &sqlitex.ExecOptions{Args: []any{origin, key}})
}
