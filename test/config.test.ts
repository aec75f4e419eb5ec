import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type ConfigError, configMessage, parseConfig } from '../src/config.ts'
import { settings } from '../src/settings.ts'

const secret = 'a secret of more than thirty-two bytes'

describe('settings', () => {
  const rows = [
    ['host by default', {}, [], 'host', '127.0.0.1'],
    ['host by variable', { HOST: '0.0.0.0' }, [], 'host', '0.0.0.0'],
    ['host by flag', {}, ['--host', '::1'], 'host', '::1'],
    ['port by default', {}, [], 'port', 4000],
    ['the flag wins over the variable', { PORT: '1' }, ['--port', '2'], 'port', 2],
    ['a flag with an equals sign', {}, ['--port=0'], 'port', 0],
    ['an empty variable counts as absent', { PORT: '' }, [], 'port', 4000],
    ['submission by default', {}, [], 'submit', 'open'],
    ['submission closed', { SUBMIT: 'closed' }, [], 'submit', 'closed'],
    ['retention of the whole log by default', {}, [], 'logRetention', 'all'],
    ['retention of a part of the log', { LOG_RETENTION: '1000' }, [], 'logRetention', 1_000],
    ['any host by default', {}, [], 'allowedHosts', 'all'],
    [
      'hosts',
      { ALLOWED_HOSTS: 'A.example, [::1]' },
      [],
      'allowedHosts',
      new Set(['a.example', '[::1]']),
    ],
    ['origins by default', {}, [], 'allowedOrigins', undefined],
    ['any origin', { ALLOWED_ORIGINS: '*' }, [], 'allowedOrigins', 'all'],
    [
      'an origin',
      {},
      ['--allowed-origins', 'https://a.b'],
      'allowedOrigins',
      new Set(['https://a.b']),
    ],
    ['no GraphiQL', { GRAPHIQL: 'off' }, [], 'graphiql', false],
    ['no explorer', { EXPLORER: 'off' }, [], 'explorer', false],
    ['no introspection', {}, ['--introspection', 'off'], 'introspection', false],
    ['one worker by default', {}, [], 'workers', 1],
    ['workers', { DATABASE_URL: 'postgresql://h/d', WORKERS: '64' }, [], 'workers', 64],
    ['connections', {}, ['--max-connections', '7'], 'maxConnections', 7],
    ['subscriptions', { MAX_SUBSCRIPTIONS: '0' }, [], 'maxSubscriptions', 0],
    ['a new ledger by default', {}, [], 'noCreate', false],
    ['no new ledger by flag', {}, ['--no-create'], 'noCreate', true],
    ['no new ledger by variable', { NO_CREATE: 'on' }, [], 'noCreate', true],
    ['a new ledger by variable', { NO_CREATE: 'off' }, [], 'noCreate', false],
    ['drain delay', {}, ['--drain-delay', '0'], 'drainDelay', 0],
    ['drain seconds', {}, ['--drain-seconds=60'], 'drainSeconds', 60],
    ['log level', {}, ['--log-level', 'debug'], 'logLevel', 'debug'],
    ['genesis by default', {}, [], 'genesisFile', undefined],
    ['genesis', { GENESIS_FILE: 'g.bin' }, [], 'genesisFile', 'g.bin'],
    ['trusted', { TRUSTED_DOCUMENTS: 'd.json' }, [], 'trustedDocuments', 'd.json'],
    ['parameters', {}, ['--parameters-file', 'p.json'], 'parametersFile', 'p.json'],
  ] as const
  test.each(rows)('%s', (_name, env, words, member, expected) => {
    expect(configOf(env, words)[member]).toEqual(expected)
  })
})

describe('the database', () => {
  const url = 'postgresql://user:secret@host:5432/ledger'
  const rows = [
    ['by default', {}, [], 'file:./data/ledger-gateway.db'],
    ['by flag', {}, ['--database', 'file:x.db'], 'file:x.db'],
    ['by a URL of three slashes', { DATABASE_URL: 'file:///srv/x.db' }, [], 'file:///srv/x.db'],
    ['on a server', { DATABASE_URL: url }, [], url],
    ['on a server by its short name', { DATABASE_URL: 'postgres://h/d' }, [], 'postgres://h/d'],
    ['in the usual schema', { DATABASE_URL: `${url}?schema=public` }, [], `${url}?schema=public`],
  ] as const
  test.each(rows)('%s', (_name, env, words, expected) => {
    const { databaseUrl, wakeDatabaseUrl } = configOf(env, words)
    expect(databaseUrl.reveal()).toBe(expected)
    expect(wakeDatabaseUrl).toBeUndefined()
  })

  test('behind a pooler, with a direct URL for notifications', () => {
    const env = { DATABASE_URL: 'postgres://pooler/db', WAKE_DATABASE_URL: url }
    expect(configOf(env, []).wakeDatabaseUrl?.reveal()).toBe(url)
  })

  test('with replicas, each of which may have several hosts', () => {
    const urls = ['postgres://u:p,w@a:1,b:2/db', 'postgresql://c/db']
    const env = { DATABASE_URL: url, READ_DATABASE_URLS: urls.join(', ') }
    expect(configOf(env, []).readDatabaseUrls?.map((one) => one.reveal())).toEqual(urls)
  })

  test('on a server does not print its password', () => {
    const env = { DATABASE_URL: url, WAKE_DATABASE_URL: url, READ_DATABASE_URLS: `${url},${url}` }
    const config = configOf(env, [])
    const prints = [JSON.stringify(config), inspect(config, { depth: 9, showHidden: true })]
    for (const print of prints) expect(print).not.toContain('secret@')
  })
})

describe('upstream nodes', () => {
  test('are URLs in order, and absent with an embedded ledger', () => {
    const env = { UPSTREAM_URLS: 'https://one.example/node/, http://127.0.0.1:14265' }
    const urls = ['https://one.example/node', 'http://127.0.0.1:14265']
    expect(configOf({ LEDGER: 'upstream', ...env }, []).upstreamUrls).toEqual(urls)
    expect(configOf({}, []).upstreamUrls).toEqual([])
    expect(configOf({ LEDGER: 'upstream', ...env }, []).upstreamProofs).toBe(true)
  })
})

describe('the key of tokens', () => {
  const rows = [
    ['is next to the database by default', {}, [], 'data/ledger-gateway.key'],
    ['is next to another database', { DATABASE_URL: 'file:/srv/a.b.sqlite' }, [], '/srv/a.b.key'],
    [
      'is in the default folder for a database server',
      { DATABASE_URL: 'postgres://h/d' },
      [],
      'data/ledger-gateway.key',
    ],
    ['is set by the variable', { KEY_FILE: 'my.pem' }, [], 'my.pem'],
    ['is set by the flag', { KEY_FILE: 'my.pem' }, ['--key-file', 'other.pem'], 'other.pem'],
  ] as const
  test.each(rows)('%s', (_name, env, words, path) => {
    expect(configOf(env, words).signing).toEqual({ kind: 'file', path })
  })

  test('is replaced by a secret', () => {
    const { signing } = configOf({ JWT_SECRET: secret, KEY_FILE: 'my.pem' }, [])
    expect(signing.kind === 'secret' && signing.secret.reveal()).toBe(secret)
  })

  test('is not printed if it is a secret', () => {
    const config = configOf({ JWT_SECRET: secret }, [])
    const prints = [JSON.stringify(config), inspect(config, { depth: 9, showHidden: true })]
    for (const print of prints) expect(print).not.toContain(secret)
  })
})

describe('tokens', () => {
  const keys = { JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'gateway' }
  const rules = {
    issuer: undefined,
    audience: undefined,
    mustExpire: false,
    maxAgeSeconds: undefined,
    leewaySeconds: 0,
  }
  test('have no rules by default', () => {
    const { tokenRules, keySet, revocationsFile } = configOf({}, [])
    expect({ tokenRules, keySet, revocationsFile }).toEqual({ tokenRules: rules })
  })

  test('have the rules of the settings', () => {
    const env = { ...keys, JWT_MAX_AGE: '12h', JWT_LEEWAY: '300', JWT_REVOCATIONS: 'r.txt' }
    const { tokenRules, revocationsFile } = configOf(env, ['--jwt-require-expiry', 'on'])
    expect([tokenRules, revocationsFile]).toEqual([
      {
        issuer: 'https://id.example',
        audience: 'gateway',
        mustExpire: true,
        maxAgeSeconds: 43_200,
        leewaySeconds: 300,
      },
      'r.txt',
    ])
  })

  test.each([
    ['keys.json', { kind: 'file', path: 'keys.json' }],
    ['https://id.example/keys', { kind: 'url', url: 'https://id.example/keys' }],
    ['http://127.0.0.1:8080/keys', { kind: 'url', url: 'http://127.0.0.1:8080/keys' }],
  ])('can have the key set %s', (JWT_JWKS, source) => {
    expect(configOf({ JWT_JWKS, ...keys }, []).keySet).toEqual(source)
  })

  test.each([
    ['http://id.example/keys', keys, ['JWT_JWKS']],
    ['https://u:p@id.example/keys', keys, ['JWT_JWKS']],
    ['ftp://id.example/keys', keys, ['JWT_JWKS']],
    ['keys.json', {}, ['JWT_ISSUER', 'JWT_AUDIENCE']],
  ])('cannot have the key set %s', (JWT_JWKS, env, expected) => {
    const config = parseConfig({ JWT_JWKS, ...env }, [])
    if (config.ok) throw new Error('accepted')
    const named = config.error.map((one) => one.code === 'SETTING_INVALID' && one.setting)
    expect(named).toEqual(expected)
    expect(config.error.map(configMessage).join()).not.toContain('u:p')
  })
})

test('a password in an argument is reported, and one in the environment is not', () => {
  const url = 'postgresql://user:secret@host/ledger'
  for (const one of [url, 'postgresql://host/ledger?user=user&password=secret']) {
    expect(configOf({}, ['--database', one]).exposed).toEqual(['--database'])
  }
  expect(configOf({ DATABASE_URL: url }, ['--database', 'file:a.db']).exposed).toEqual([])
})

describe('the configuration rejects', () => {
  const rows = [
    ['a leeway above the maximum', { JWT_LEEWAY: '301' }, [], ['JWT_LEEWAY']],
    ['an age without a unit', {}, ['--jwt-max-age', '60'], ['--jwt-max-age']],
    ['a port above the maximum', { PORT: '65536' }, [], ['PORT']],
    ['a port that is not a number', {}, ['--port', '4000x'], ['--port']],
    ['an empty host, which would mean all of them', {}, ['--host', ''], ['--host']],
    ['a negative port', {}, ['--port=-1'], ['--port']],
    ['a database of an unknown kind', { DATABASE_URL: 'mysql://x' }, [], ['DATABASE_URL']],
    ['a file on another host', { DATABASE_URL: 'file://./data/x.db' }, [], ['DATABASE_URL']],
    ['a server without a database', { DATABASE_URL: 'postgres://h' }, [], ['DATABASE_URL']],
    [
      'a schema that the driver would ignore',
      {
        DATABASE_URL: 'postgres://h/d?schema=own',
        WAKE_DATABASE_URL: 'postgres://h/d?a=b&schema=own',
      },
      [],
      ['DATABASE_URL', 'WAKE_DATABASE_URL'],
    ],
    [
      'parameters beside those of nodes',
      { LEDGER: 'upstream', UPSTREAM_URLS: 'http://a', PARAMETERS_FILE: 'p.json' },
      [],
      ['PARAMETERS_FILE'],
    ],
    ['a file for notifications', { WAKE_DATABASE_URL: 'file:x.db' }, [], ['WAKE_DATABASE_URL']],
    [
      'notifications of a SQLite database',
      { WAKE_DATABASE_URL: 'postgres://h/d' },
      [],
      ['WAKE_DATABASE_URL'],
    ],
    [
      'a replica that is a file',
      { DATABASE_URL: 'postgres://h/d', READ_DATABASE_URLS: 'postgres://h/d,file:x.db' },
      [],
      ['READ_DATABASE_URLS'],
    ],
    [
      'replicas of a SQLite database',
      { READ_DATABASE_URLS: 'postgres://h/d' },
      [],
      ['READ_DATABASE_URLS'],
    ],
    ['a maximum lag of 0', { READ_MAX_LAG: '0' }, [], ['READ_MAX_LAG']],
    ['metrics on the port of the gateway', { METRICS_PORT: '4000' }, [], ['METRICS_PORT']],
    [
      'metrics on that port of all addresses',
      { METRICS_PORT: '4000', METRICS_HOST: '0.0.0.0' },
      [],
      ['METRICS_PORT'],
    ],
    ['an unknown ledger mode', { LEDGER: 'mine' }, [], ['LEDGER']],
    ['upstream mode without a URL', { LEDGER: 'upstream' }, [], ['UPSTREAM_URLS']],
    ['an upstream URL without upstream mode', { UPSTREAM_URLS: 'http://a' }, [], ['UPSTREAM_URLS']],
    [
      'an upstream URL after a superfluous comma',
      { LEDGER: 'upstream', UPSTREAM_URLS: 'http://a,' },
      [],
      ['UPSTREAM_URLS'],
    ],
    [
      'an upstream URL with a password',
      { LEDGER: 'upstream', UPSTREAM_URLS: 'http://u:p@a' },
      [],
      ['UPSTREAM_URLS'],
    ],
    ['an unknown value for proofs', { UPSTREAM_PROOFS: 'maybe' }, [], ['UPSTREAM_PROOFS']],
    ['an unknown value for submission', { SUBMIT: 'yes' }, [], ['SUBMIT']],
    ['a log of 0 milestones', { LOG_RETENTION: '0' }, [], ['LOG_RETENTION']],
    ['a word for connections', { MAX_CONNECTIONS: 'many' }, [], ['MAX_CONNECTIONS']],
    ['workers on SQLite', { WORKERS: '2' }, [], ['WORKERS']],
    ['0 workers', { DATABASE_URL: 'postgresql://h/d', WORKERS: '0' }, [], ['WORKERS']],
    ['an origin with a path', { ALLOWED_ORIGINS: 'https://a.b/' }, [], ['ALLOWED_ORIGINS']],
    ['an origin without a scheme', { ALLOWED_ORIGINS: 'a.b' }, [], ['ALLOWED_ORIGINS']],
    ['a host with a port', { ALLOWED_HOSTS: 'a.b:80' }, [], ['ALLOWED_HOSTS']],
    ['a delay of an hour', { DRAIN_DELAY: '3600' }, [], ['DRAIN_DELAY']],
    ['a switch that is neither on nor off', { NO_CREATE: 'maybe' }, [], ['NO_CREATE']],
    ['a drain of an hour', {}, ['--drain-seconds=3600'], ['--drain-seconds']],
    ['an unknown log level', { LOG_LEVEL: 'loud' }, [], ['LOG_LEVEL']],
    ['a short secret', { JWT_SECRET: 'short' }, [], ['JWT_SECRET']],
    ['an unknown flag and its value', {}, ['--prot', '1', '2'], ['--prot', '2']],
    ['unknown flags in a row', {}, ['--prot', '--hots', '1'], ['--prot', '--hots']],
    ['a flag for the secret', {}, ['--jwt-secret=x'], ['--jwt-secret']],
    ['a flag without a value', {}, ['--host', '--port', '1'], ['--host', '1']],
    ['a repeated flag', {}, ['--port', '1', '--port', '2'], ['--port']],
    ['a word without a flag', {}, ['here'], ['here']],
    [
      'all wrong settings at once',
      { PORT: 'x', SUBMIT: 'x' },
      ['--what'],
      ['--what', 'PORT', 'SUBMIT'],
    ],
  ] as const
  test.each(rows)('%s', (_name, env, words, places) => {
    const result = parseConfig(env, words)
    expect(result.ok ? [] : result.error.map(placeOf)).toEqual(places)
  })

  test('with a sentence that names the setting, the expected and the given value', () => {
    const result = parseConfig({ PORT: 'x' }, [])
    expect(result.ok ? [] : result.error.map(configMessage)).toEqual([
      'PORT must be a whole number from 0 to 65535, not "x"',
    ])
  })

  test('a secret with a sentence that does not contain it', () => {
    const env = { JWT_SECRET: 'hush', DATABASE_URL: 'postgres:/me:hush@host/db' }
    const result = parseConfig({ ...env, KEY_FILE: '-----BEGIN PRIVATE KEY-----\nhush' }, [])
    expect(result.ok ? [] : result.error.map(configMessage)).toEqual([
      'DATABASE_URL must be file:PATH or postgresql://USER:PASSWORD@HOST:PORT/DATABASE (with ?options=-csearch_path=NAME instead of ?schema=NAME)',
      'KEY_FILE must be the path of a file, not the key itself',
      'JWT_SECRET must be at least 32 bytes long',
    ])
  })

  test.each([
    [['--jwt-secret', 'hush'], '--jwt-secret is unknown'],
    [['--jwt-secret=hush'], '--jwt-secret is unknown'],
    [['-jwt-secret=hush'], '-j is unknown'],
    [['postgresql://me:hush@host/db'], 'postgresql://[secret]@host/db is not expected here'],
    [['postgres://host/db?password=hush'], 'postgres://host/db?[secret] is not expected here'],
  ])('%j without the secret in it', (words, sentence) => {
    const result = parseConfig({}, words)
    const sentences = result.ok ? [] : result.error.map(configMessage)
    expect(sentences).toEqual([expect.stringContaining(sentence)])
    expect(JSON.stringify([result, sentences])).not.toContain('hush')
  })
})

test('every variable and flag is unique', () => {
  const all = Object.values(settings)
  const variables = all.map(({ variable }) => variable)
  const flags = all.flatMap(({ flag }) => flag ?? [])
  expect(new Set(variables).size).toBe(variables.length)
  expect(new Set(flags).size).toBe(flags.length)
})

test('the metrics may have the port of the gateway on another address, and both may be chosen by the system', () => {
  const env = { METRICS_PORT: '4000', METRICS_HOST: '10.0.0.1' }
  expect(configOf(env, []).metrics).toEqual({ port: 4_000, host: '10.0.0.1' })
  expect(configOf({ PORT: '0', METRICS_PORT: '0' }, []).port).toBe(0)
})

test('the configuration is frozen', () => {
  expect(Object.isFrozen(configOf({}, []))).toBe(true)
})

function configOf(env: Parameters<typeof parseConfig>[0], words: readonly string[]) {
  const result = parseConfig(env, words)
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

function placeOf(error: ConfigError): string {
  if ('word' in error) return error.word
  return 'setting' in error ? error.setting : error.code
}
