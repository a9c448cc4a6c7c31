package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPatience is longer than cluster.stop takes: a restart may overlap the stop of the cluster before.
const lockPatience = 12 * time.Second

// enterDir makes dir, if it is not there, and locks it. leave unlocks and, if wanted, removes it.
func enterDir(dir string, remove bool) (leave func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return nil, err
	} else if remove && len(entries) > 0 {
		return nil, fmt.Errorf("--remove-dir: %s is not empty", dir)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return func() {
		if remove {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}, nil
}

// lockDir keeps two clusters from sharing a directory. The lock ends with the process, however that ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(50 * time.Millisecond) {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}
		if time.Now().After(deadline) {
			_ = f.Close()
			return nil, fmt.Errorf("another cluster runs in %s", dir)
		}
	}
}
