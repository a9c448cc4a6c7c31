import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkDataFormat, DataFormatError } from '#infra/local/data-format.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

test('a new directory is of our format, and stays usable', async () => {
  await using temp = await makeTempDir();
  await checkDataFormat(temp.path);
  expect(await readFile(path.join(temp.path, 'format'), 'utf8')).toBe('2\n');
  await checkDataFormat(temp.path);
});

test('a directory from before there were formats is of the first one', async () => {
  await using temp = await makeTempDir();
  await mkdir(path.join(temp.path, 'dynamodb'));
  await expect(checkDataFormat(temp.path)).rejects.toThrow(
    /its data has format '1', and this version knows format 2 alone/,
  );
  expect(await readdir(temp.path)).toEqual(['dynamodb']);
});

test.each(['1', '3', '0', '1.5', '', 'x'.repeat(1_000_000)])(
  'another format is refused, with the ways out: %.10s',
  async (format) => {
    await using temp = await makeTempDir();
    await writeFile(path.join(temp.path, 'format'), format);
    const check = checkDataFormat(temp.path);
    await expect(check).rejects.toThrow(DataFormatError);
    await expect(check).rejects.toThrow(
      /Start that version on it, or pass another --data-dir\. Deleting the directory/,
    );
    await expect(check).rejects.toThrow(/^.{1,500}$/);
    expect(await readFile(path.join(temp.path, 'format'), 'utf8')).toBe(format);
  },
);
