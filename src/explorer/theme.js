// Runs before the first paint: applies the theme that the user chose, if it is not the system theme.
try {
  const theme = localStorage.getItem('theme')
  if (theme) document.documentElement.dataset.theme = theme
} catch {}
