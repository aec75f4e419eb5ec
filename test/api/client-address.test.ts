import { describe, expect, test } from 'vitest'
import { clientOf } from '../../src/api/clients/client-address.ts'
import { present } from '../../src/lib/assert.ts'
import { proxies as proxiesType } from '../../src/setting-values.ts'

/** The address of the client that sends a request. */

const proxies = (text: string) => present(proxiesType.parse(text), 'proxies')

describe('the address of a connection', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:12:3:4:5:6', '2001:db8:0:12::/64'],
    ['2001:db8:0:12::ffff', '2001:db8:0:12::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, client) => {
    expect(clientOf(address, {}, proxies('0'))).toBe(client)
  })

  test('is the client, whatever a header says, when no proxy is trusted', () => {
    const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' }
    expect(clientOf('192.0.2.7', headers, proxies('0'))).toBe('192.0.2.7')
    expect(clientOf('192.0.2.7', headers, proxies('10.0.0.0/8'))).toBe('192.0.2.7')
  })
})

describe('the address that proxies name', () => {
  const listed = { 'x-forwarded-for': '203.0.113.9, 198.51.100.1, 10.1.1.1' }
  test.each([
    ['1', listed, '10.1.1.1'],
    ['2', listed, '198.51.100.1'],
    ['9', listed, '203.0.113.9'],
    ['10.0.0.0/8', listed, '198.51.100.1'],
    ['10.0.0.0/8,198.51.100.1', listed, '203.0.113.9'],
    ['1', { 'x-forwarded-for': '198.51.100.1:4711' }, '198.51.100.1'],
    ['1', { 'x-forwarded-for': '[2001:db8::1]:80' }, '2001:db8:0:0::/64'],
    ['1', { 'x-forwarded-for': '203.0.113.9, unknown' }, '10.0.0.1'],
    [
      '1',
      { forwarded: 'for=203.0.113.9;proto=https, For="[2001:db8::1]:80"' },
      '2001:db8:0:0::/64',
    ],
    ['1', { forwarded: 'by=10.0.0.1;for=_hidden' }, '10.0.0.1'],
    // The client chooses the host, which may contain any of these characters.
    ['1', { forwarded: 'for=203.0.113.9;host="a,for=198.51.100.1"' }, '203.0.113.9'],
    ['1', { forwarded: 'host="a;for=198.51.100.1";for=203.0.113.9' }, '203.0.113.9'],
    ['1', { forwarded: 'for=203.0.113.9;host="a\\",for=198.51.100.1"' }, '203.0.113.9'],
    ['1', { forwarded: 'for="198.51.100.1, for="203.0.113.9:80"' }, '203.0.113.9'],
    ['1', {}, '10.0.0.1'],
  ])('behind %s with %o is %s', (trusted, headers, client) => {
    expect(clientOf('10.0.0.1', headers, proxies(trusted))).toBe(client)
  })

  test('is found in white space of any length in a time that grows with the header', () => {
    const forwarded = `for=203.0.113.9, for=${' '.repeat(250_000)}"x`
    expect(clientOf('10.0.0.1', { forwarded }, proxies('1'))).toBe('10.0.0.1')
  })

  test('is used only when both headers agree, because a proxy may pass on one of them as the client wrote it', () => {
    const one = '203.0.113.9'
    const both = (forwarded: string) => ({ 'x-forwarded-for': one, forwarded })
    expect(clientOf('10.0.0.1', both(`for=${one}`), proxies('1'))).toBe(one)
    expect(clientOf('10.0.0.1', both('for=203.0.113.10'), proxies('1'))).toBe('10.0.0.1')
  })
})

test.each([
  '10',
  '-1',
  '10.0.0.0/33',
  '10.0.0.0/8/24',
  '2001:db8::/129',
  'proxy',
  '10.0.0.0/8;1.2.3.4',
  '',
])('TRUST_PROXY may not be "%s"', (text) => expect(proxiesType.parse(text)).toBeUndefined())
