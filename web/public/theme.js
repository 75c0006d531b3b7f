// Runs before the first paint, so that a chosen theme does not flash. It is a file of its own because the
// content security policy forbids inline scripts. Absent or "system" leaves the choice to prefers-color-scheme.
(function () {
  try {
    var theme = localStorage.getItem('fyllo.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be blocked; the system theme is then right.
  }
})();
