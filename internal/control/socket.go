// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// SocketName is the name of the control socket in the directory of the journals.
const SocketName = "control.sock"

// socketMode lets the owner connect, and root.
const socketMode = 0o600

var (
	// ErrNoCollector says that no collector listens on a control socket.
	ErrNoCollector = errors.New("no collector listens on the control socket")
	errInUse       = errors.New("another process listens there")
	errNoSocket    = errors.New("is not a socket; move it away")
)

// silent swallows what a client's bad HTTP makes the server say.
var silent = log.New(io.Discard, "", 0)

// listen makes the socket under a name that nobody else can reach, gives it its
// mode and moves it to its place: nobody can connect before only the owner can,
// and what has the name is replaced, never followed.
func listen(dir string) (net.Listener, string, error) {
	path := filepath.Join(dir, SocketName)
	if err := vacant(dir); err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", path, err)
	}
	private, err := os.MkdirTemp(dir, ".control-")
	if err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", path, err)
	}
	defer os.RemoveAll(private)
	listener, err := listenIn(private)
	if err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", path, err)
	}
	made := filepath.Join(private, SocketName)
	if err = os.Chmod(made, socketMode); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("listen on %s: %w", path, err), listener.Close())
	}
	return listener, path, nil
}

func listenIn(dir string) (net.Listener, error) {
	address, release, err := address(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // the name changes
	return listener, nil
}

// vacant reports whether a socket can be put into a directory.
func vacant(dir string) error {
	conn, err := dial(dir)
	switch {
	case err == nil:
		return errors.Join(errInUse, conn.Close())
	case errors.Is(err, ErrNoCollector):
		return nil
	}
	return err
}

// dial connects to the socket of a directory. It follows no link.
func dial(dir string) (net.Conn, error) {
	path := filepath.Join(dir, SocketName)
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoCollector
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s %w", path, errNoSocket)
	}
	address, release, err := address(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address, Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is left of one that is gone", ErrNoCollector, path)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", path, err)
	}
	return conn, nil
}

// maxAddress is the longest path of a socket that every system takes, in bytes.
const maxAddress = 100

// address returns a path of the socket that is short enough for the system. It
// holds until release is called.
func address(dir string) (path string, release func(), err error) {
	path = filepath.Join(dir, SocketName)
	if len(path) <= maxAddress {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("path has %d bytes, more than the %d of a socket; choose a shorter directory", len(path), maxAddress)
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), SocketName), func() { _ = d.Close() }, nil
}
