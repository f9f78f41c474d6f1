// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// notesDir makes a directory for notes, whatever the umask.
func notesDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "notes")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}

// TestProcessWithNotes is no test but the other process of the one below. It holds the
// directory until its input ends.
func TestProcessWithNotes(t *testing.T) {
	dir := os.Getenv("NOTES_OF_ANOTHER")
	if dir == "" {
		t.Skip("this is the process that another test starts")
	}
	_, err := Directory(dir).List(t.Context())
	fmt.Println("held:", err == nil)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestTheNotesOfALivingProcessAreNotSettled(t *testing.T) {
	dir := notesDir(t)
	lose(t, newFakeJournal(t), dir) // this process holds it from now on
	_, err := Directory(dir).List(t.Context())
	require.NoError(t, err, "its own directory, again")

	other := notesDir(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessWithNotes$")
	cmd.Env = append(os.Environ(), "NOTES_OF_ANOTHER="+other)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held: true\n", line)
	e := newTransport(newFakeJournal(t)).Executor
	e.Attempts = Directory(other)
	_, err = e.Recover(t.Context())
	require.ErrorIs(t, err, errHeld)
	require.NoError(t, stdin.Close())
	require.NoError(t, cmd.Wait())
	_, err = e.Recover(t.Context())
	require.NoError(t, err, "the process has ended")
}

func TestADirectoryInWhichOthersMayWriteHoldsNoNotes(t *testing.T) {
	dir := notesDir(t)
	require.NoError(t, os.Chmod(dir, 0o770))
	require.ErrorContains(t, Directory(dir).Put(t.Context(), "att_1", nil), "chmod 700")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, Directory(dir).Put(t.Context(), "att_1", nil))
}
