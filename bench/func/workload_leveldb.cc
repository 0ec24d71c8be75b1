// SPDX-License-Identifier: MIT
//
// What LevelDB is given to do: the same in every run. Writes in batches, deletes, reads of keys that
// are there and of some that are not, scans in both directions, and a compaction; LevelDB's
// own db_bench spends most of its calls on making random bytes. Everything is in memory, for a disk
// would be measured else.
//
//	workload_leveldb ROUNDS THREADS
//
// One round of one thread is about a million calls and returns. LevelDB has a thread of its own
// that compacts, so what one thread does depends a little on when another did.
#include <stdio.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"

namespace
{

constexpr int kKeys = 4000;
constexpr int kBatch = 20;

class Worker
{
public:
	Worker(leveldb::DB *db, unsigned number) : db_(db), seed_(number * 7919 + 1)
	{
	}

	void Run(int rounds)
	{
		for (int i = 0; i < rounds; i++) {
			Write(200);
			Read(400);
			Scan(100);
		}
	}

	size_t Found() const
	{
		return found_;
	}

private:
	unsigned Random(unsigned n)
	{
		seed_ = seed_ * 1103515245u + 12345u;
		return (seed_ >> 16) % n;
	}

	std::string Key()
	{
		char text[32];

		snprintf(text, sizeof(text), "user/%06u/name", Random(kKeys));
		return text;
	}

	void Write(int n)
	{
		for (int done = 0; done < n; done += kBatch) {
			leveldb::WriteBatch batch;

			for (int i = 0; i < kBatch; i++) {
				if (Random(10) == 0)
					batch.Delete(Key());
				else
					batch.Put(Key(), std::string(20 + Random(200), 'a' + Random(26)));
			}
			Check(db_->Write(leveldb::WriteOptions(), &batch));
		}
	}

	void Read(int n)
	{
		std::string value;

		for (int i = 0; i < n; i++) {
			leveldb::Status status = db_->Get(leveldb::ReadOptions(), Key(), &value);

			if (!status.IsNotFound())
				Check(status);
			found_ += status.ok() ? value.size() : 0;
		}
	}

	void Scan(int n)
	{
		std::unique_ptr<leveldb::Iterator> at(db_->NewIterator(leveldb::ReadOptions()));

		at->Seek(Key());
		for (int i = 0; i < n && at->Valid(); i++, at->Next())
			found_ += at->key().size() + at->value().size();
		for (int i = 0; i < n && at->Valid(); i++, at->Prev())
			found_ += at->key().size();
		Check(at->status());
	}

	static void Check(const leveldb::Status &status)
	{
		if (status.ok())
			return;
		fprintf(stderr, "cannot use the database: %s\n", status.ToString().c_str());
		exit(1);
	}

	leveldb::DB *db_;
	unsigned seed_;
	size_t found_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
	std::vector<Worker> workers;
	std::vector<std::thread> threads;
	leveldb::Options options;
	leveldb::DB *db = nullptr;
	size_t found = 0;

	options.create_if_missing = true;
	options.env = env.get();
	options.write_buffer_size = 1 << 16;
	if (!leveldb::DB::Open(options, "/workload", &db).ok())
		return 1;
	for (unsigned i = 0; i < count; i++)
		workers.emplace_back(db, i);
	for (unsigned i = 1; i < count; i++)
		threads.emplace_back([&workers, i, rounds] { workers[i].Run(rounds); });
	workers[0].Run(rounds);
	for (std::thread &thread : threads)
		thread.join();
	db->CompactRange(nullptr, nullptr);
	for (const Worker &worker : workers)
		found += worker.Found();
	printf("%zu\n", found);
	delete db;
	return 0;
}
