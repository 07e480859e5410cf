// volume makes and removes the directory of one claimed volume, for the local-path provisioner's helper pod.
// The provisioner calls it with `-a create` or `-a delete` and the directory in VOL_DIR.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	action := flag.String("a", "", "create or delete")
	flag.String("p", "", "the volume's path (VOL_DIR says the same)")
	flag.String("s", "", "the size that was asked for (a directory has none)")
	flag.String("m", "", "the volume mode (a directory is always a file system)")
	flag.Parse()
	if err := act(*action, os.Getenv("VOL_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func act(action, directory string) error {
	if directory == "" {
		return fmt.Errorf("VOL_DIR is not set")
	}
	switch action {
	case "create":
		if err := os.MkdirAll(directory, 0o777); err != nil {
			return err
		}
		// The umask has cut the mode; whatever user the pod runs as must be able to write.
		return os.Chmod(directory, 0o777)
	case "delete":
		return os.RemoveAll(directory)
	default:
		return fmt.Errorf("unknown action %q", action)
	}
}
