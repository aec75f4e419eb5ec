import { describe, expect, test } from 'vitest'
import { maskToRoles, rolesToMask } from '../../src/ledger/updates.ts'
import { classToNumber, numberToClass } from '../../src/store/values.ts'

/** These numbers are stored in databases: a change here needs a migration. */
describe('numbers in the database', () => {
  const roles = [
    ['OWNER', 1],
    ['STATE_CONTROLLER', 2],
    ['GOVERNOR', 4],
    ['STORAGE_DEPOSIT_RETURN', 8],
    ['EXPIRATION_RETURN', 16],
    ['SENDER', 32],
    ['ISSUER', 64],
    ['VALIDATOR', 128],
    ['MULTI_MEMBER', 256],
    ['RESTRICTED_INNER', 512],
  ] as const

  test.each(roles)('role %s is bit %d', (role, mask) => {
    expect(rolesToMask([role])).toBe(mask)
    expect(maskToRoles(mask)).toEqual([role])
  })

  test('several roles form one mask, and are returned in their order', () => {
    expect(rolesToMask(['SENDER', 'OWNER'])).toBe(33)
    expect(maskToRoles(33)).toEqual(['OWNER', 'SENDER'])
    expect(maskToRoles(0)).toEqual([])
    expect(maskToRoles(1023)).toEqual(roles.map(([role]) => role))
  })

  test.each([
    ['OWNED', 0],
    ['MENTIONED', 1],
  ] as const)('class %s is %d', (updateClass, number) => {
    expect(classToNumber(updateClass)).toBe(number)
    expect(numberToClass(number)).toBe(updateClass)
  })

  test('a number without a class is rejected', () => {
    expect(() => numberToClass(2)).toThrow('update class 2')
  })
})
