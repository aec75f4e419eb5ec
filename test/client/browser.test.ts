import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../src/client', import.meta.url))
const files = readdirSync(folder)

describe('the client for browsers', () => {
  test.each(files)('%s imports only files of its folder and uses no API of Node', (file) => {
    const source = readFileSync(join(folder, file), 'utf8')
    const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, path]) => path ?? '')
    for (const path of imports) {
      // The hook is a separate entry whose users have React.
      if (file === 'react.ts' && path === 'react') continue
      expect(files).toContain(path.replace('./', ''))
      expect(dirname(path)).toBe('.')
    }
    expect(source).not.toMatch(/\b(process|Buffer|require|__dirname|setImmediate|globalThis)\b/)
  })
})
