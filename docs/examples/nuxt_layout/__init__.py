"""An app whose tools are a package, for docs/compare-nuxt-tools.md."""
