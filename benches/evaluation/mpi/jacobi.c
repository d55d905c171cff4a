/* Jacobi's method over MPI: the program of examples/src/jacobi.rs, with the largest change by
 * MPI_Allreduce. Rank 0 has the middle of the plate, rank 1 the upper and rank 2 the lower third.
 *
 *     mpirun -n 3 jacobi SIZE ACCURACY
 *
 * For each line of its input, rank 0 solves the plate and prints the seconds that it took, the number
 * of rounds, and the sum of all points. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE, PART };

/* One step of the rows between two others. Returns the largest change. */
static double step(int rows, int size, const double *old, double *new, const double *above,
                   const double *below)
{
    double change = 0.0;
    for (int at = 0; at < rows; at++) {
        const double *row = old + (size_t)at * size;
        const double *up = at == 0 ? above : row - size;
        const double *down = at == rows - 1 ? below : row + size;
        for (int column = 0; column < size; column++) {
            double left = column == 0 ? 0.0 : row[column - 1];
            double right = column == size - 1 ? 0.0 : row[column + 1];
            double value = (up[column] + down[column] + left + right) / 4.0;
            double difference = fabs(value - row[column]);
            if (difference > change)
                change = difference;
            new[(size_t)at * size + column] = value;
        }
    }
    return change;
}

static double *array(size_t count)
{
    double *array = calloc(count, sizeof *array);
    if (array == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return array;
}

/* Solves the plate. Rank 0 fills `plate`. Returns the number of rounds. */
static int solve(int rank, int size, double accuracy, double *plate)
{
    int third = size / 3, rows = rank == 0 ? size - 2 * third : third;
    size_t count = (size_t)rows * size;
    double *old = array(count), *new = array(count), *above = array(size), *below = array(size);
    for (int column = 0; rank == 1 && column < size; column++)
        above[column] = 100.0;
    int up = rank == 0 ? 1 : rank == 2 ? 0 : MPI_PROC_NULL;
    int down = rank == 0 ? 2 : rank == 1 ? 0 : MPI_PROC_NULL;
    int rounds = 0;
    for (double change = INFINITY; change > accuracy; rounds++) {
        MPI_Request requests[4];
        double *last = old + count - size;
        MPI_Irecv(above, size, MPI_DOUBLE, up, EDGE, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(below, size, MPI_DOUBLE, down, EDGE, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(old, size, MPI_DOUBLE, up, EDGE, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(last, size, MPI_DOUBLE, down, EDGE, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        double own = step(rows, size, old, new, above, below);
        double *swapped = old;
        old = new;
        new = swapped;
        MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    int part = third * size;
    if (rank == 0) {
        memcpy(plate + part, old, count * sizeof *old);
        MPI_Recv(plate, part, MPI_DOUBLE, 1, PART, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(plate + part + count, part, MPI_DOUBLE, 2, PART, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else {
        MPI_Send(old, part, MPI_DOUBLE, 0, PART, MPI_COMM_WORLD);
    }
    free(old);
    free(new);
    free(above);
    free(below);
    return rounds;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int size = argc == 3 ? atoi(argv[1]) : 0;
    if (ranks != 3 || size < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    double accuracy = atof(argv[2]), *plate = array((size_t)size * size);
    for (;;) {
        char line[16];
        int goes_on = rank == 0 && fgets(line, sizeof line, stdin) != NULL;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!goes_on)
            break;
        double begun = MPI_Wtime();
        int rounds = solve(rank, size, accuracy, plate);
        double taken = MPI_Wtime() - begun, sum = 0.0;
        if (rank != 0)
            continue;
        for (size_t at = 0; at < (size_t)size * size; at++)
            sum += plate[at];
        printf("%.17g %d %.17g\n", taken, rounds, sum);
        fflush(stdout);
    }
    free(plate);
    MPI_Finalize();
    return 0;
}
