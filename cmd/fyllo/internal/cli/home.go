package cli

import (
	"os"
	"path/filepath"

	"fyllocode.dev/fyllo"
)

// dataRoot returns the absolute path of the data root (R-CLI-001): the flag, else $FYLLO_HOME, else
// $XDG_DATA_HOME/fyllocode, else the platform's usual place. An empty value counts as absent.
func dataRoot(flag string, getenv func(string) string, goos string) (string, error) {
	dir := flag
	if dir == "" {
		dir = getenv("FYLLO_HOME")
	}
	if xdg := getenv("XDG_DATA_HOME"); dir == "" && xdg != "" {
		dir = filepath.Join(xdg, "fyllocode")
	}
	if dir == "" {
		base, err := platformData(getenv, goos)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "fyllocode")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fyllo.Errorf(fyllo.CodeHomeNotWritable, "data root %s: %w", dir, err)
	}
	return abs, nil
}

func platformData(getenv func(string) string, goos string) (string, error) {
	if local := getenv("LOCALAPPDATA"); goos == "windows" && local != "" {
		return local, nil
	}
	home := getenv("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fyllo.Errorf(fyllo.CodeHomeNotWritable, "data root: no home directory is known").
				WithHint("Set FYLLO_HOME or use --home DIR.")
		}
	}
	switch goos {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support"), nil
	case "windows":
		return filepath.Join(home, "AppData", "Local"), nil
	default:
		return filepath.Join(home, ".local", "share"), nil
	}
}
