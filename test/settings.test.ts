import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfig } from '../src/check-config.ts'
import {
  configMessage,
  effectiveSettings,
  parseConfig,
  parseDatabase,
  parseSigning,
} from '../src/config.ts'
import { type Setting, settings } from '../src/settings.ts'
import { settingsInFile, textInFile } from '../src/settings-file.ts'
import { settingsSchema } from '../src/settings-schema.ts'
import { schemaText, settingsPage } from './support/settings-page.ts'

/** Settings from a file, the environment and flags; secrets from files; the page and the JSON Schema of the settings. */

const secret = 'a secret of more than thirty-two bytes'
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-settings-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a file and returns its path. */
function writeTestFile(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const fileOf = (members: object) => writeTestFile('gateway.json', JSON.stringify(members))

/** Returns the messages for a settings file with this text, without its path. */
function messagesFor(text: string): readonly string[] {
  const path = writeTestFile('wrong.json', text)
  const config = parseConfig({}, ['--config', path])
  return (config.ok ? [] : config.error).map((one) => configMessage(one).replaceAll(path, 'FILE'))
}

describe('a settings file', () => {
  test('sets numbers, switches, lists and strings', () => {
    const members = {
      $schema: './settings.schema.json',
      port: 4001,
      logRetention: 1_000,
      blockRetention: 'all',
      graphiql: false,
      noCreate: true,
      allowedOrigins: ['https://a.b', 'https://c.d'],
      allowedHosts: '*',
      trustProxy: 2,
      jwtMaxAge: '12h',
      ledger: 'upstream',
      upstreamUrls: ['http://a/', 'http://b'],
    }
    expect(configOf({}, ['--config', fileOf(members)])).toMatchObject({
      port: 4_001,
      logRetention: 1_000,
      blockRetention: 'all',
      graphiql: false,
      noCreate: true,
      allowedOrigins: new Set(['https://a.b', 'https://c.d']),
      allowedHosts: 'all',
      trustProxy: { kind: 'count', count: 2 },
      tokenRules: { maxAgeSeconds: 43_200 },
      upstreamUrls: ['http://a', 'http://b'],
    })
  })

  test('lists URLs of databases, each of which may list hosts', () => {
    const readDatabaseUrls = ['postgresql://a,b:5433/db', 'postgres://c/db']
    const members = { databaseUrl: 'postgresql://a/db', readDatabaseUrls }
    const { readDatabaseUrls: read } = configOf({}, ['--config', fileOf(members)])
    expect(read?.map((one) => one.reveal())).toEqual(readDatabaseUrls)
  })

  test('is overridden by the environment, which is overridden by flags', () => {
    const CONFIG_FILE = fileOf({ port: 1, host: 'file', submit: 'closed' })
    const env = { CONFIG_FILE, PORT: '2', HOST: 'environment' }
    const words = ['--port', '3']
    expect(configOf(env, words)).toMatchObject({
      port: 3,
      host: 'environment',
      submit: 'closed',
      metricsHost: '127.0.0.1',
    })
    const origins = new Map(
      effectiveSettings(env, words).map(({ setting, origin }) => [setting.name, origin]),
    )
    expect(['port', 'host', 'submit', 'metricsHost'].map((name) => origins.get(name))).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ])
  })

  test('is named by a flag rather than by its variable', () => {
    const path = writeTestFile('other.json', '{"port": 5}')
    expect(configOf({ CONFIG_FILE: fileOf({ port: 1 }) }, ['--config', path]).port).toBe(5)
  })

  test('applies to commands that use the database or the token key too', () => {
    const database = parseDatabase(
      {},
      new Map([['config', [fileOf({ databaseUrl: 'file:a.db' })]]]),
    )
    expect(database.ok && database.value.reveal()).toBe('file:a.db')
    const CONFIG_FILE = fileOf({ jwtSecret: secret, jwtIssuer: 'me', port: 1 })
    const signing = parseSigning({ CONFIG_FILE }, new Map())
    expect(signing).toMatchObject({
      ok: true,
      value: { signing: { kind: 'secret' }, issuer: 'me' },
    })
  })

  const rows = [
    ['an unknown member', { prot: 1 }, 'prot in FILE is not a setting; did you mean port?'],
    [
      'the name of a variable',
      { DATABASE_URL: 'file:x.db' },
      'DATABASE_URL in FILE is not a setting; did you mean databaseUrl?',
    ],
    [
      'the name of a flag',
      { database: 'file:x.db' },
      'database in FILE is not a setting; did you mean databaseUrl?',
    ],
    ['a member unlike any setting', { colour: 'red' }, 'colour in FILE is not a setting'],
    ['the name of another file', { configFile: 'x.json' }, 'configFile in FILE is not a setting'],
    [
      'a number as a string',
      { port: '4000' },
      'port in FILE must be a whole number from 0 to 65535, not "4000"',
    ],
    [
      'a number out of bounds',
      { port: 65_536 },
      'port in FILE must be a whole number from 0 to 65535, not 65536',
    ],
    [
      'a fraction',
      { drainDelay: 1.5 },
      'drainDelay in FILE must be a whole number from 0 to 60, not',
    ],
    [
      'a switch as a string',
      { graphiql: 'on' },
      'graphiql in FILE must be true or false, not "on"',
    ],
    ['a number instead of a string', { host: 5 }, 'host in FILE must be a string, not 5'],
    ['null', { host: null }, 'host in FILE must be a string, not null'],
    [
      'an unknown choice',
      { submit: 'no' },
      'submit in FILE must be open, closed or token, not "no"',
    ],
    [
      'a wrong item of a list',
      { allowedHosts: ['a.b', 5] },
      'allowedHosts.1 in FILE must be a string without commas, not 5',
    ],
    [
      'two items in one string',
      { allowedHosts: ['a.b,c.d'] },
      'allowedHosts.0 in FILE must be a string without commas, not "a.b,c.d"',
    ],
  ] as const
  test.each(rows)('is rejected with the path of %s', (_name, members, sentence) => {
    expect(messagesFor(JSON.stringify(members))).toEqual([expect.stringContaining(sentence)])
  })

  test.each([
    ['a comment', '{"port": 1, // one\n}', 'FILE is not valid JSON at line 1, column 13'],
    ['a superfluous comma', '{\n  "port": 1,\n}', 'FILE is not valid JSON at line 3, column 1'],
    ['a list', '[]', 'FILE must be a JSON object with settings as its members'],
  ])('is rejected as a whole for %s', (_name, text, sentence) => {
    expect(messagesFor(text)).toEqual([sentence])
  })

  test('may begin with a byte order mark, as editors on Windows write it', () => {
    const path = writeTestFile('marked.json', '\uFEFF{"port": 4001}')
    expect(configOf({}, ['--config', path]).port).toBe(4_001)
  })

  test('that is missing is reported with the setting that names it', () => {
    const path = '/no/such.json'
    const reason = 'no such file or directory (ENOENT)'
    const config = parseConfig({ CONFIG_FILE: path }, [])
    expect(config.ok ? [] : config.error).toEqual([
      { code: 'FILE_UNREADABLE', setting: 'CONFIG_FILE', path, reason },
    ])
  })

  test('with a secret is reported without the secret', () => {
    const wrong = [
      messagesFor(`{"jwtSecret": "hush", "databaseUrl": "hush://x", "issuerKey": "hush"}`),
      messagesFor(`{"jwtSecret": ["hush"], "upstreamUrls": ["http://u:hush@a"]}`),
      messagesFor(
        `{"readDatabaseUrls": ["postgresql://a/b", "hush"], "databaseUrl": "postgres://a/b"}`,
      ),
      messagesFor(`{"jwtSecret": hush}`),
      messagesFor(`{"jwtSecret": "hush" "port": 1}`),
    ]
    expect(wrong.map((sentences) => sentences.length)).toEqual([3, 3, 1, 1, 1])
    expect(wrong.join()).not.toContain('hush')
  })
})

describe('config check', () => {
  test('reports all problems of each source, even of overridden values', async () => {
    const env = { CONFIG_FILE: fileOf({ port: -1, prot: 2 }), PORT: 'x', LOG_LEVEL: 'loud' }
    const found = await checkConfig(env, ['--port', '3', '--what'])
    const places = found.map((one) => ('setting' in one ? String(one.setting) : one.code))
    expect(places.map((place) => place.replace(/ in .*/, ''))).toEqual([
      'FLAG_UNKNOWN',
      'SETTING_UNKNOWN',
      'LOG_LEVEL',
      'PORT',
      'port',
    ])
  })

  test('is stricter than a start, which reads only the effective values', async () => {
    const env = { PORT: 'x' }
    expect(configOf(env, ['--port', '3']).port).toBe(3)
    expect(await checkConfig(env, ['--port', '3'])).toMatchObject([
      { name: 'port', setting: 'PORT' },
    ])
  })
})

describe('config check of files that settings name', () => {
  const rows = [
    ['GENESIS_FILE', '{}', 'GENESIS_FILE_INVALID'],
    ['PARAMETERS_FILE', '[]', 'GENESIS_FILE_INVALID'],
    ['TRUSTED_DOCUMENTS', '{}', 'TRUSTED_DOCUMENTS_INVALID'],
    ['JWT_REVOCATIONS', 'me', 'TOKEN_FILE_UNUSABLE'],
    ['JWT_JWKS', '{}', 'TOKEN_FILE_UNUSABLE'],
    ['KEY_FILE', 'no key', 'KEY_FILE_UNUSABLE'],
  ] as const
  const rest = { JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'gateway' }

  test.each(rows)(
    'reports a file of %s that a start would reject',
    async (variable, text, code) => {
      const path = writeTestFile('named.txt', text)
      const env = { ...rest, [variable]: path }
      expect(await checkConfig(env, [])).toMatchObject([{ code, path, setting: variable }])
    },
  )

  test('reports a missing snapshot, and requests none from a URL', async () => {
    const path = join(folder, 'no.snapshot')
    const upstream = { LEDGER: 'upstream', UPSTREAM_URLS: 'http://a' }
    expect(await checkConfig({ ...upstream, SNAPSHOT: path }, [])).toMatchObject([
      { code: 'SNAPSHOT_AWAY', path, setting: 'SNAPSHOT' },
    ])
    expect(await checkConfig({ ...upstream, SNAPSHOT: 'http://a' }, [])).toEqual([])
  })

  test('accepts a byte order mark at the beginning of a file', async () => {
    const env = {
      TRUSTED_DOCUMENTS: writeTestFile('documents.json', '\uFEFF{"a": "{ __typename }"}'),
      JWT_REVOCATIONS: writeTestFile('revoked.txt', '\uFEFFjti a'),
    }
    expect(await checkConfig(env, [])).toEqual([])
  })

  test('reports all files at once, with other problems', async () => {
    const env = Object.fromEntries(
      rows.map(([variable, text]) => [variable, writeTestFile(variable, text)]),
    )
    const found = await checkConfig({ ...rest, ...env, PORT: 'x' }, [])
    expect(found.map(({ code }) => code)).toEqual([
      'SETTING_INVALID',
      ...rows.map(([, , code]) => code),
    ])
  })

  test('creates no key', async () => {
    const KEY_FILE = join(folder, 'new.key')
    expect(await checkConfig({ KEY_FILE }, [])).toEqual([])
    expect(existsSync(KEY_FILE)).toBe(false)
  })
})

describe('a secret in a file', () => {
  const key = `0x${'ab'.repeat(32)}`
  const server = { DATABASE_URL: 'postgresql://user@host/db' }
  const rows: readonly (readonly [keyof ReturnType<typeof secretsOf>, string, object])[] = [
    ['JWT_SECRET', secret, {}],
    ['DATABASE_URL', 'postgresql://user:hush@host/db', {}],
    ['WAKE_DATABASE_URL', 'postgresql://user:hush@host/db', server],
    ['ISSUER_KEY', key, {}],
  ]

  test.each(rows)('sets %s, with or without a line break', (variable, value, others) => {
    for (const end of ['', '\n', '\r\n']) {
      const path = writeTestFile('secret.txt', `${value}${end}`)
      const env = { ...others, [`${variable}_FILE`]: path }
      expect(secretsOf(env, [])[variable]).toBe(value)
    }
  })

  test('can be named in the settings file', () => {
    const jwtSecretFile = writeTestFile('secret.txt', secret)
    expect(secretsOf({ CONFIG_FILE: fileOf({ jwtSecretFile }) }, []).JWT_SECRET).toBe(secret)
  })

  test('is overridden by a stronger source', () => {
    const DATABASE_URL_FILE = writeTestFile('secret.txt', 'file:weak.db')
    const words = ['--database', 'file:strong.db']
    expect(secretsOf({ DATABASE_URL_FILE }, words).DATABASE_URL).toBe('file:strong.db')
    const CONFIG_FILE = fileOf({ databaseUrl: 'file:weakest.db' })
    expect(secretsOf({ CONFIG_FILE, DATABASE_URL_FILE }, []).DATABASE_URL).toBe('file:weak.db')
  })

  test.each(rows)('is rejected together with the value of %s', (variable, value, others) => {
    const file = `${variable}_FILE`
    const given = { [variable]: value, [file]: writeTestFile('secret.txt', value) }
    const config = parseConfig({ ...others, ...given }, [])
    expect(config.ok ? [] : config.error).toEqual([
      { code: 'SETTING_GIVEN_TWICE', settings: [variable, file] },
    ])
  })

  test.each([
    ['that is a folder', 'folder', 'it is a directory (EISDIR)'],
    // The text may be the secret itself.
    ['that is missing, without its path', 'missing.txt', 'no such file or directory (ENOENT)'],
  ])('%s is reported', (_name, name, reason) => {
    mkdirSync(join(folder, 'folder'), { recursive: true })
    const JWT_SECRET_FILE = join(folder, name)
    const path = name === 'folder' ? JWT_SECRET_FILE : undefined
    const config = parseConfig({ JWT_SECRET_FILE }, [])
    expect(config.ok ? [] : config.error).toEqual([
      { code: 'FILE_UNREADABLE', setting: 'JWT_SECRET_FILE', path, reason },
    ])
    const names = path === undefined ? 'names a file that' : `names ${path}, which`
    expect(config.ok ? [] : config.error.map(configMessage)).toEqual([
      `JWT_SECRET_FILE ${names} cannot be read: ${reason}`,
    ])
  })

  test('that is invalid is reported without the secret', () => {
    const path = writeTestFile('secret.txt', 'hush')
    const config = parseConfig({ JWT_SECRET_FILE: path }, [])
    expect(config.ok ? [] : config.error.map(configMessage)).toEqual([
      `JWT_SECRET in ${path} must be at least 32 bytes long`,
    ])
  })
})

describe('settings in effect', () => {
  test('do not show secrets', () => {
    const env = {
      JWT_SECRET: `hush${secret}`,
      ISSUER_KEY_FILE: writeTestFile('secret.txt', `0x${'ab'.repeat(32)}`),
      DATABASE_URL: 'postgresql://user:hush@host/db?password=hush',
      WAKE_DATABASE_URL: 'postgresql://user@host/db',
      READ_DATABASE_URLS: 'postgresql://user:hush@a/db,postgresql://user:hush@b/db?password=hush',
    }
    expect(parseConfig(env, []).ok).toBe(true)
    const shown = new Map(
      effectiveSettings(env, []).map(({ setting, value }) => [setting.name, value]),
    )
    expect(JSON.stringify([...shown])).not.toMatch(/hush|abab/)
    expect(shown.get('databaseUrl')).toBe('postgresql://user:[secret]@host/db?[secret]')
    expect(shown.get('wakeDatabaseUrl')).toBe('postgresql://user@host/db')
    expect(shown.get('readDatabaseUrls')).toBe(
      'postgresql://user:[secret]@a/db,postgresql://user:[secret]@b/db?[secret]',
    )
    expect([shown.get('jwtSecret'), shown.get('issuerKey')]).toEqual(['[secret]', '[secret]'])
  })

  test.each([
    ['postgresql://user:hush@host:5432/db', 'postgresql://user:[secret]@host:5432/db'],
    ['postgres://user:hu:s@h@host/db', 'postgres://user:[secret]@host/db'],
    ['postgres://:hush@host/db?sslmode=require', 'postgres://:[secret]@host/db?[secret]'],
    ['postgres://host:5432/db', 'postgres://host:5432/db'],
    ['file:./data/a:b@c.db', 'file:./data/a:b@c.db'],
  ])('show %s without its password', (DATABASE_URL, shown) => {
    const [found] = effectiveSettings({ DATABASE_URL }, []).filter(
      ({ setting }) => setting === settings.databaseUrl,
    )
    expect(found?.value).toBe(shown)
  })

  test('are valid in a settings file', () => {
    const env = { ALLOWED_HOSTS: 'a, b', GRAPHIQL: 'off', TRUST_PROXY: '2', LOG_RETENTION: '7' }
    const members = effectiveSettings(env, ['--no-create'])
      .filter(({ setting, value }) => value !== null && setting !== settings.configFile)
      .map(({ setting, value }) => [setting.name, value])
    const config = configOf({ CONFIG_FILE: fileOf(Object.fromEntries(members)) }, [])
    const { configFile: _, ...rest } = config
    const { configFile: __, ...expected } = configOf(env, ['--no-create'])
    expect(JSON.stringify(rest)).toBe(JSON.stringify(expected))
    expect(config.allowedHosts).toEqual(new Set(['a', 'b']))
  })
})

describe('the JSON Schema', () => {
  const isValid = new Ajv({ allowUnionTypes: true }).compile(settingsSchema())
  const samples = [
    [0, 1, 7, 64, 65, 300, 301, 65_535, 65_536, -1, 1.5, 1e21, true, false, null, {}, []],
    [
      '',
      'on',
      'all',
      'x',
      '30m',
      'none',
      'open',
      'upstream',
      'debug',
      'a.b',
      `0x${'0'.repeat(64)}`,
    ],
    [
      'postgresql://h/d',
      'file:x.db',
      'https://a.b',
      '10.0.0.0/8',
      '*',
      'a,b',
      secret,
      ['a.b'],
      ['a,b'],
      [1],
    ],
  ].flat(1)

  const isAccepted = ({ type }: Setting, value: unknown) => {
    const text = textInFile(value, type)
    return text.ok && type.parse(text.value) !== undefined
  }

  test.each(settingsInFile.map((setting) => [setting.name, setting] as const))(
    'accepts all accepted values of %s',
    (name, setting) => {
      const accepted = samples.filter((value) => isAccepted(setting, value))
      const valid = samples.filter((value) => isValid({ [name]: value }))
      expect(accepted.length).toBeGreaterThan(0)
      expect(accepted.filter((value) => !valid.includes(value))).toEqual([])
      // Only strings may have a form that the schema does not know.
      const looser = valid.filter((value) => !accepted.includes(value))
      expect(looser.filter((value) => typeof value === 'number' || value === true)).toEqual([])
    },
  )

  test('rejects unknown settings, and a secret together with its file', () => {
    expect(isValid({ $schema: './x.json', port: 1 })).toBe(true)
    expect(isValid({ prot: 1 })).toBe(false)
    expect(isValid({ configFile: 'x.json' })).toBe(false)
    expect(isValid({ jwtSecret: secret })).toBe(true)
    expect(isValid({ jwtSecret: secret, jwtSecretFile: 'x' })).toBe(false)
  })
})

describe('the generated files match the settings (npm run reference):', () => {
  const docs = new URL('../docs/', import.meta.url)
  test.each([
    ['settings.md', settingsPage],
    ['settings.schema.json', schemaText],
  ])('docs/%s', (name, text) => {
    expect(readFileSync(new URL(name, docs), 'utf8')).toBe(text())
  })
})

function configOf(env: Parameters<typeof parseConfig>[0], words: readonly string[]) {
  const result = parseConfig(env, words)
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

function secretsOf(env: Parameters<typeof parseConfig>[0], words: readonly string[]) {
  const { signing, databaseUrl, wakeDatabaseUrl, issuerKey } = configOf(env, words)
  return {
    JWT_SECRET: signing.kind === 'secret' ? signing.secret.reveal() : undefined,
    DATABASE_URL: databaseUrl.reveal(),
    WAKE_DATABASE_URL: wakeDatabaseUrl?.reveal(),
    ISSUER_KEY: issuerKey === 'none' ? issuerKey : issuerKey?.reveal(),
  }
}
